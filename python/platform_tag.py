"""Which machines the program in a wheel runs on, read from the program itself."""

from __future__ import annotations

import json
import platform
import struct
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
        build_data["tag"] = f"py3-none-{tag(Path(self.root) / PROGRAM)}"


def tag(program: Path) -> str:
    """Return the platform of a program.

    Raises:
        ValueError: It is none that wheels are built for.

    """
    with program.open("rb") as file:
        head = file.read(1 << 16)
    if head.startswith(b"\x7fELF"):
        return linux(program)
    if head.startswith(b"\xcf\xfa\xed\xfe"):
        return macos(head)
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
        shown = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    answer = json.loads(shown.stdout)
    found = answer.get("overall_tag", "")
    if not found.startswith(("manylinux", "musllinux")):
        msg = f"{program}: auditwheel says {answer.get('error', found)!r}, want a manylinux or musllinux"
        raise ValueError(msg)
    return str(found)


def macos(head: bytes) -> str:
    """Return the oldest macOS that a Mach-O file names. Of macOS 11 and later, wheels know the major version alone."""
    machine = {0x0100000C: "arm64", 0x01000007: "x86_64"}[struct.unpack_from("<I", head, 4)[0]]
    commands = struct.unpack_from("<I", head, 16)[0]
    at = 32
    for _ in range(commands):
        command, size = struct.unpack_from("<II", head, at)
        least = {0x32: at + 12, 0x24: at + 8}.get(command)  # LC_BUILD_VERSION, LC_VERSION_MIN_MACOSX
        if least is not None:
            version = struct.unpack_from("<I", head, least)[0]
            major, minor = version >> 16, version >> 8 & 0xFF
            if major > 10 and version & 0xFFFF:
                major, minor = major + 1, 0
            return f"macosx_{major}_{minor}_{machine}"
        at += size
    msg = "the Mach-O file names no version of macOS"
    raise ValueError(msg)
