"""Build a wheel that carries a program: python build_wheel.py BINARY [--licenses DIR] [--out DIR].

Prints the path of the wheel. The interpreter needs hatchling and auditwheel of the versions in pyproject.toml.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def stage(folder: Path, program: Path, licenses: Path | None) -> None:
    """Put all that the wheel is made of into a folder."""
    shutil.copytree(
        HERE, folder, ignore=shutil.ignore_patterns("tests", "dist", ".*", "__pycache__"), dirs_exist_ok=True
    )
    shutil.copy(HERE.parent / "LICENSE", folder)
    shutil.copy(HERE.parent / "cmd" / "neurolens" / "main.go", folder)  # it has the version
    if licenses is not None:
        shutil.copytree(licenses, folder / "licenses")
    (folder / "bin").mkdir()
    staged = folder / "bin" / "neurolens"
    shutil.copyfile(program, staged)
    staged.chmod(0o755)


def build(program: Path, licenses: Path | None, out: Path) -> Path:
    """Build the wheel and return its path."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        stage(Path(folder), program, licenses)
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(Path(folder, "dist"))]
        if code := subprocess.run(command, cwd=folder, stdout=sys.stderr, check=False).returncode:
            sys.exit(code)  # hatchling has said why
        (wheel,) = Path(folder, "dist").glob("*.whl")
        return Path(shutil.copy(wheel, out))


def missing() -> str:
    """Return which tool of pyproject.toml this interpreter lacks, and how to install it. Empty: none."""
    requires = re.findall(r'"((\w+)==[\d.]+)"', (HERE / "pyproject.toml").read_text(encoding="utf-8"))
    for requirement, module in requires:
        if importlib.util.find_spec(module) is None:
            return f"{module} is missing: pip install {requirement}"
    return ""


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Build a wheel that carries a program.")
    parser.add_argument("program", type=Path, metavar="BINARY", help="the program neurolens")
    parser.add_argument("--licenses", type=Path, metavar="DIR", help="licences of what is linked into it")
    parser.add_argument("--out", type=Path, metavar="DIR", default=Path("dist"), help="where the wheel goes (dist)")
    given = parser.parse_args()
    if line := missing():
        sys.exit(line)
    print(build(given.program, given.licenses, given.out))


if __name__ == "__main__":
    main()
