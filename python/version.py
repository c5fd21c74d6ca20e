"""The version of the wheel, as main.go has it. build_wheel.py puts main.go and the program beside this file."""

import re
from pathlib import Path

SOURCE = Path(__file__).with_name("main.go")
if not SOURCE.exists():
    msg = (
        "this folder has no program to install; in a clone, "
        "`go build -o neurolens ./cmd/neurolens && python3 python/build_wheel.py neurolens` makes a wheel in "
        "dist/, which pip installs"
    )
    raise FileNotFoundError(msg)

__version__ = re.findall(r'(?m)^const version = "([^"]+)"$', SOURCE.read_text(encoding="utf-8"))[0]
