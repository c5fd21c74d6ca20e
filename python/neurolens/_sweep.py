"""A sweep that is given as a dict, as a text that the program reads."""

from __future__ import annotations

import base64
import json
import os
import re
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def text_of(sweep: Mapping[str, Any]) -> str:
    """Return a sweep as JSON in ASCII, which is YAML too.

    Characters outside ASCII have the escapes of YAML: it knows no surrogate pairs. A text that stands for bytes, such
    as the name of a file that is not UTF-8, has its tag ``!!binary``.
    """
    text = json.dumps(dict(sweep), ensure_ascii=False, allow_nan=False, default=_plain)
    text = re.sub(r'"(?:[^"\\]|\\.)*"', _escaped, text)
    return re.sub(r"[^ -~]", lambda match: f"\\U{ord(match[0]):08x}", text)


def _plain(value: Any) -> Any:
    """Return a value that JSON has for one that it does not have."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, range):
        return list(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic):
        value = _number(numpy, value)
        if isinstance(value, (bool, int, float, str)):
            return value
    elif hasattr(value, "tolist"):  # an array of numpy, or of a framework
        try:
            value = numpy.asarray(value)
        except (AttributeError, TypeError):  # without numpy, or of a device
            return value.tolist()
        return list(value) if value.ndim else value[()]
    msg = f"sweep: {type(value).__name__} {value!r} is none of the values that a sweep has"
    raise TypeError(msg)


def _number(numpy: Any, number: Any) -> Any:
    """Return a number of numpy as Python has it.

    Of a type with fewer digits than a float it is the shortest decimal that the type reads back: 0.1 for a float32 of
    0.1, which is 0.10000000149011612.
    """
    value = number.item()
    if isinstance(number, numpy.inexact) and isinstance(value, type(number)):  # a float of more digits
        value = float(number)
    if not isinstance(value, float) or isinstance(number, float):
        return value
    with numpy.errstate(over="ignore"):
        for digits in range(1, 17):
            short = float(f"{value:.{digits}g}")
            if type(number)(short) == number:
                return short
    return value


def _escaped(match: re.Match[str]) -> str:
    """Return a text of JSON that has bytes, as Python escapes them, as bytes of YAML."""
    if not re.search("[\udc80-\udcff]", match[0]):
        return match[0]
    data = json.loads(match[0]).encode("utf-8", "surrogateescape")
    return f'!!binary "{base64.b64encode(data).decode()}"'
