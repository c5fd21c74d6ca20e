"""What pip puts where."""

import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path

from conftest import call

import neurolens
from neurolens import _program

PLATFORM_TAG = Path(__file__).parent.parent / "platform_tag.py"


def test_version():
    version = json.loads(call("version", "--format=json").stdout)
    assert importlib.metadata.version("neurolens") in json.dumps(version)


def test_module_is_the_program():
    for arguments, status in [(["version"], 0), (["nosuch"], 2), (["bench", "--help"], 0)]:
        theirs = call(*arguments, status=status)
        mine = subprocess.run(
            [sys.executable, "-m", "neurolens", *arguments], capture_output=True, text=True, check=False
        )
        assert (mine.returncode, mine.stdout, mine.stderr) == (status, theirs.stdout, theirs.stderr)


def test_program_of_the_environment(tmp_path, monkeypatch):
    assert Path(_program.program()) == Path(sys.prefix, "bin", "neurolens").resolve()
    monkeypatch.setattr(_program, "_installed", lambda: iter([tmp_path / "none"]))
    monkeypatch.setenv("PATH", f"{sys.prefix}/bin")
    assert _program.program() == f"{sys.prefix}/bin/neurolens"
    monkeypatch.setenv("PATH", str(tmp_path))
    try:
        neurolens.query("SELECT 1")
    except FileNotFoundError as error:
        assert "not on PATH" in str(error)
    else:
        raise AssertionError


def test_import_needs_nothing():
    code = "import sys, neurolens; print({'pyarrow', 'pandas', 'polars', 'numpy'} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "set()\n"


def test_it_is_typed_and_has_its_licences():
    files = {str(file) for file in importlib.metadata.files("neurolens")}
    version = importlib.metadata.version("neurolens")
    assert {
        "neurolens/py.typed",
        f"neurolens-{version}.dist-info/licenses/LICENSE",
        f"neurolens-{version}.dist-info/licenses/licenses/third/LICENSE",
    } <= files


def test_docstrings():
    for name in neurolens.__all__:
        assert len(getattr(neurolens, name).__doc__) > 50


def test_platform_of_macos(tmp_path):
    sys.path.insert(0, str(PLATFORM_TAG.parent))
    try:
        from platform_tag import tag
    finally:
        sys.path.pop(0)
    for machine, version, want in [
        (0x0100000C, 11 << 16, "macosx_11_0_arm64"),
        (0x0100000C, 13 << 16 | 3 << 8, "macosx_14_0_arm64"),
        (0x01000007, 10 << 16 | 15 << 8, "macosx_10_15_x86_64"),
    ]:
        head = [0xFEEDFACF, machine, 3, 2, 2, 0, 0, 0, 0x19, 16, 0, 0, 0x32, 24, 1, version, 0, 0]
        file = tmp_path / "program"
        file.write_bytes(b"".join(number.to_bytes(4, "little") for number in head))
        assert tag(file) == want
    file.write_text("#!/bin/sh\n")
    try:
        tag(file)
    except ValueError as error:
        assert "neither an ELF nor a Mach-O file" in str(error)
    else:
        raise AssertionError
    assert os.access(file, os.R_OK)
