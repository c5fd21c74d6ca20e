"""Which machines the program in a wheel runs on, read from the program itself."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PROGRAM = Path("bin", "neurolens")


class PlatformTag(BuildHookInterface[Any]):
    """Gives the wheel the tag of its program. Any Python 3 will do: nothing in it depends on one."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Set the tag."""
        build_data["pure_python"] = False
        try:
            build_data["tag"] = f"py3-none-{tag(Path(self.root) / PROGRAM)}"
        except ValueError as error:
            self.app.abort(f"platform tag: {error}")


def tag(program: Path) -> str:
    """Return the platform of a program.

    Raises:
        ValueError: It is none that wheels are built for, or the file is damaged.

    """
    with program.open("rb") as file:
        head = file.read(1 << 16)
    if head.startswith(b"\x7fELF"):
        return linux(program)
    if head.startswith(b"\xcf\xfa\xed\xfe"):
        try:
            return macos(head)
        except ValueError as error:
            msg = f"{program}: {error}"
            raise ValueError(msg) from None
    msg = f"{program}: neither an ELF nor a Mach-O file of 64 bits"
    raise ValueError(msg)


def linux(program: Path) -> str:
    """Return the oldest manylinux whose libraries have every versioned symbol that the program needs.

    auditwheel decides. It reads wheels, so that it gets one with nothing but the program.
    """
    with tempfile.TemporaryDirectory() as folder:
        wheel = Path(folder, f"probe-0-py3-none-linux_{platform.machine()}.whl")
        files = ["probe-0.data/scripts/probe", "probe-0.dist-info/WHEEL", "probe-0.dist-info/RECORD"]
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.write(program, files[0])
            archive.writestr(
                files[1], "Wheel-Version: 1.0\nGenerator: probe\nRoot-Is-Purelib: false\nTag: py3-none-any\n"
            )
            archive.writestr(files[2], "".join(f"{file},,\n" for file in files))
        command = [sys.executable, "-m", "auditwheel", "show", "--json", str(wheel)]
        shown = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        answer = json.loads(shown.stdout)
    except ValueError:  # it ended with an exception, as for a damaged file
        msg = f"{program}: auditwheel cannot read it: {(shown.stderr.splitlines() or ['it prints nothing'])[-1]}"
        raise ValueError(msg) from None
    found = answer.get("overall_tag", "")
    if not found.startswith(("manylinux", "musllinux")):
        msg = f"{program}: auditwheel says {answer.get('error', found)!r}, want a manylinux or musllinux"
        raise ValueError(msg)
    return str(found)


def macos(head: bytes) -> str:
    """Return the oldest macOS that a Mach-O file names. Of macOS 11 and later, wheels know the major version alone."""
    processor = word(head, 4)
    machine = {0x0100000C: "arm64", 0x01000007: "x86_64"}.get(processor)
    if machine is None:
        msg = f"the Mach-O file is for the processor {processor:#x}, want arm64 or x86_64"
        raise ValueError(msg)
    at = 32
    for _ in range(word(head, 16)):
        command, size = word(head, at), word(head, at + 4)
        least = {0x32: at + 12, 0x24: at + 8}.get(command)  # LC_BUILD_VERSION, LC_VERSION_MIN_MACOSX
        if least is not None:
            version = word(head, least)
            major, minor = version >> 16, version >> 8 & 0xFF
            if major > 10 and version & 0xFFFF:
                major, minor = major + 1, 0
            return f"macosx_{major}_{minor}_{machine}"
        at += max(size, 8)  # of a damaged file, it may be 0
    msg = "the Mach-O file names no version of macOS"
    raise ValueError(msg)


def word(head: bytes, at: int) -> int:
    """Return a number of 32 bits."""
    if at + 4 > len(head):
        msg = f"the Mach-O file is damaged: its header has {len(head)} bytes, want {at + 4}"
        raise ValueError(msg)
    return int.from_bytes(head[at : at + 4], "little")
