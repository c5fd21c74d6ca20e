"""What pip puts where."""

import importlib
import importlib.metadata
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
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


@pytest.fixture
def tag(monkeypatch):
    """Return the function that reads the platform of a program."""
    monkeypatch.syspath_prepend(str(PLATFORM_TAG.parent))
    return importlib.import_module("platform_tag").tag


def mach_o(machine, version, size=16):
    """Return the header of a Mach-O file with two commands, of which the first has some size."""
    head = [0xFEEDFACF, machine, 3, 2, 2, 0, 0, 0, 0x19, size, 0, 0, 0x32, 24, 1, version, 0, 0]
    return b"".join(number.to_bytes(4, "little") for number in head)


ARM64, X86_64 = 0x0100000C, 0x01000007


def test_platform_of_macos(tmp_path, tag):
    for machine, version, want in [
        (ARM64, 11 << 16, "macosx_11_0_arm64"),
        (ARM64, 13 << 16 | 3 << 8, "macosx_14_0_arm64"),
        (X86_64, 10 << 16 | 15 << 8, "macosx_10_15_x86_64"),
    ]:
        file = tmp_path / "program"
        file.write_bytes(mach_o(machine, version))
        assert tag(file) == want


def test_platform_of_other_files(tmp_path, tag):
    program = Path(sys.executable).read_bytes()
    for content, want in [
        (b"#!/bin/sh\n", "neither an ELF nor a Mach-O file"),
        (mach_o(18, 11 << 16), "is for the processor 0x12, want arm64 or x86_64"),
        (mach_o(ARM64, 11 << 16)[:4], "is damaged: its header has 4 bytes, want 8"),
        (mach_o(ARM64, 11 << 16)[:58], "is damaged: its header has 58 bytes, want 64"),
        (mach_o(ARM64, 11 << 16, size=1 << 31), "is damaged: "),
        (mach_o(ARM64, 11 << 16, size=0), "names no version of macOS"),
        (b"\x7fELF", "auditwheel says "),
        (program[: len(program) // 2], "auditwheel cannot read it: "),
    ]:
        file = tmp_path / "program"
        file.write_bytes(content)
        with pytest.raises(ValueError, match=re.escape(want)) as caught:
            tag(file)
        assert str(caught.value).startswith(f"{file}: ")
        assert "\n" not in str(caught.value)


def test_wheel_of_a_damaged_file(tmp_path):
    file = tmp_path / "program"
    file.write_bytes(b"\x7fELF")
    done = build_wheel(file)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "platform tag: " in done.stderr.splitlines()[-1]


def test_wheel_without_hatchling(tmp_path):
    done = build_wheel("program", "-S")  # -S: no site-packages
    assert (done.returncode, done.stderr) == (1, "hatchling is missing: pip install hatchling==1.33.0\n")


def build_wheel(program, *options):
    """Call the script that builds wheels."""
    command = [sys.executable, *options, PLATFORM_TAG.parent / "build_wheel.py", program]
    return subprocess.run(command, capture_output=True, text=True, check=False)
