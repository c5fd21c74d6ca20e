"""Errors of the program, and texts that a shell or the program could take for something else."""

import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import call

import neurolens


def test_error_is_the_line_of_the_program(measured):
    for arguments, function in [
        (["export", "-", "p99<1"], lambda: neurolens.read(measured, "p99<1")),
        (["query", "SELEC 1"], lambda: neurolens.query("SELEC 1", measured)),
    ]:
        with pytest.raises(neurolens.Error) as caught:
            function()
        line = call(*arguments, f"--store={measured}", status=2).stderr
        assert (caught.value.exit_code, f"neurolens: {caught.value}\n") == (2, line)


def test_store_that_is_not_there(tmp_path, capfd):
    with pytest.raises(neurolens.Error, match="nosuch") as caught:
        neurolens.read("nosuch")
    assert caught.value.exit_code == 5
    assert capfd.readouterr() == ("", "")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


HOSTILE = [
    "$(touch made)",
    "`touch made`",
    "; touch made;",
    "' || touch made #",
    '"a" b',
    "\\",
    "a\tb",
    "ü😀\u2028",
    "%s*?",
    "--overwrite",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_values(text, tmp_path):
    neurolens.bench({"command": ["true"], "tags": {"note": text}, "repeats": 1, "iterations": 1}, store="s")
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    assert neurolens.read("s", f'tag.note="{quoted}"').num_rows == 1
    literal = text.replace("'", "''")
    assert neurolens.query(f"SELECT 1 FROM runs WHERE tags['note'] = '{literal}'", "s").num_rows == 1
    assert [file.name for file in tmp_path.iterdir()] == ["s"]


@pytest.mark.parametrize(
    "text", ["--overwrite", "--store=other", "-", "--", "", "--help", "$(touch made)", "x; touch made"]
)
def test_hostile_filters(text, measured, tmp_path):
    try:
        table = neurolens.read(measured, text)
    except neurolens.Error as error:
        assert error.exit_code == 2
    else:
        assert table.num_rows in (0, 8)
    with pytest.raises(neurolens.Error) as caught:
        neurolens.query(text, measured)
    assert caught.value.exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_sql_may_begin_with_a_comment(measured):
    assert neurolens.query("-- how many\nSELECT count(*) AS n FROM runs", measured).to_pylist() == [{"n": 8}]


TALKS = """#!/bin/sh
i=0
while [ $i -lt 3000 ]; do echo "progress ü $i: more than a pipe holds, line by line" >&2; i=$((i + 1)); done
echo answer
"""
LISTENS = """
import io, sys
from neurolens import _program
sys.stderr = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
if sys.argv[2] == "closed":
    sys.stderr.close()
_program.program = lambda: sys.argv[1]
assert _program.answer(["bench"], lambda stream: stream.read()) == b"answer\\n"
if sys.argv[2] == "ascii":
    shown = sys.stderr.buffer.getvalue().decode("ascii").splitlines()
    assert len(shown) == 3000 and shown[7].startswith("progress \\\\xfc 7"), shown[7]
sys.stderr = sys.__stderr__
"""


@pytest.mark.parametrize("stderr", ["ascii", "closed"])
def test_progress_that_cannot_be_shown(stderr):
    program = Path("program").absolute()
    program.write_text(TALKS, encoding="utf-8")
    program.chmod(0o755)
    subprocess.run([sys.executable, "-c", LISTENS, program, stderr], check=True, timeout=60)
