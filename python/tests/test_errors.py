"""Errors of the program, and texts that a shell or the program could take for something else."""

import pickle

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
