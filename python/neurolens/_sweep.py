"""A sweep that is given as a dict, as a text that the program reads."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def text_of(sweep: Mapping[str, Any]) -> str:
    """Return a sweep as JSON in ASCII, which is YAML too.

    Characters outside ASCII have the escapes of YAML: it knows no surrogate pairs.
    """
    text = json.dumps(dict(sweep), ensure_ascii=False, allow_nan=False, default=_plain)
    return re.sub(r"[^ -~]", lambda match: f"\\U{ord(match[0]):08x}", text)


def _plain(value: Any) -> Any:
    """Return a value that JSON has for one that it does not have."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, range):
        return list(value)
    if hasattr(value, "tolist"):  # arrays and numbers of numpy
        return value.tolist()
    msg = f"sweep: {type(value).__name__} {value!r} is none of the values that a sweep has"
    raise TypeError(msg)
