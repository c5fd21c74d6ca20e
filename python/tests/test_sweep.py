"""The texts of sweeps that are given as dicts, which need no program."""

import json
import os
from pathlib import Path

import pytest

from neurolens._sweep import text_of

numpy = pytest.importorskip("numpy")


def value(given):
    """Return a value as the text of a sweep has it."""
    return json.loads(text_of({"value": given}))["value"]


FLOATS = [0.1, 0.0, -0.25, 1.0, 1e10, 1e-8, 3.0517578125e-05, 12.34, 16777216.0, 65504.0]


@pytest.mark.parametrize("kind", ["float16", "float32", "float64", "longdouble"])
def test_floats(kind):
    """A number is the shortest text that its type reads back, alone and in arrays."""
    for number in FLOATS:
        with numpy.errstate(over="ignore"):
            given = numpy.dtype(kind).type(number)
        if not numpy.isfinite(given):
            continue
        got = value(given)
        assert type(given)(got) == given
        assert len(repr(got)) <= len(repr(float(given)))
        assert [got, got] == value(numpy.array([given, given]))
        assert got == value(numpy.array(given))
        assert [[got]] == value(numpy.array([[given]]))
    assert value(numpy.dtype(kind).type(0.1)) == 0.1
    with pytest.raises(ValueError, match="Out of range"):
        text_of({"value": numpy.dtype(kind).type("nan")})


def test_short_floats():
    """Likewise of types that numpy does not have itself."""
    types = pytest.importorskip("ml_dtypes")
    for kind in [types.bfloat16, types.float8_e4m3fn, types.float8_e5m2]:
        assert value(kind(0.1)) == float(f"{value(kind(0.1)):.2g}")
        assert kind(value(kind(0.1))) == kind(0.1)
    assert value(types.bfloat16(0.1)) == 0.1
    assert value(numpy.array([0.1, 3], dtype=types.bfloat16)) == [0.1, 3]


def test_other_numbers():
    assert value(numpy.int8(-7)) == -7
    assert value(numpy.uint64(2**64 - 1)) == 2**64 - 1
    assert value(numpy.array([True, False])) == [True, False]
    assert text_of({"value": numpy.bool_(True)}) == '{"value": true}'
    assert value(numpy.arange(3)) == [0, 1, 2]
    assert value(numpy.array(["a", "b"])) == ["a", "b"]
    assert value(range(3)) == [0, 1, 2]
    for wrong in [numpy.complex64(1j), numpy.datetime64("2026-01-01"), object()]:
        with pytest.raises(TypeError, match="none of the values that a sweep has"):
            text_of({"value": wrong})


def test_frameworks():
    torch = pytest.importorskip("torch")
    assert value(torch.tensor([0.1, 2.0])) == [0.1, 2]
    assert value(torch.tensor(0.1)) == 0.1


def test_bytes():
    """Names of files that are not UTF-8 keep their bytes."""
    name = '!!binary "Y2Fm6Q=="'
    for given in [b"caf\xe9", os.fsdecode(b"caf\xe9"), Path(os.fsdecode(b"caf\xe9"))]:
        assert text_of({"command": ["ls", given]}) == '{"command": ["ls", ' + name + "]}"
    text = text_of({"a": 'caf\u00e9 \U0001f600 \\ "'})
    assert text == r"""{"a": "caf\U000000e9 \U0001f600 \\ \""}"""
