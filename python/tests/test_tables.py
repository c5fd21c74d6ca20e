"""Tables are what the program answers."""

import sys

import pytest
from conftest import TABLES, asked, call, rows

import neurolens

# Times are asked for as texts: the program writes as many digits as there are, Python six or none.
COLUMNS = "* REPLACE (strftime(started_at AT TIME ZONE 'UTC', '%c') AS started_at)"


def test_query_is_what_the_program_answers(everything, to):
    for table in ["runs", "samples", "samples_long"]:
        columns = COLUMNS if table == "runs" else "*"
        sql = f"SELECT {columns} FROM {table} ORDER BY ALL"
        want = asked(sql, everything)
        got = rows(neurolens.query(sql, everything, to=to))
        assert len(got) == len(want) > 10
        for mine, theirs in zip(got, want):
            assert comparable(mine) == comparable(theirs)


def comparable(row):
    """Return a row in which what JSON spells in another way is equal: real numbers without a point, empty maps."""
    return {name: None if value in ([], {}) else real(value) for name, value in row.items()}


def real(value):
    if isinstance(value, list):
        return [real(one) for one in value]
    return float(value) if isinstance(value, int) and abs(value) > 1 << 53 else value


def test_read_is_all_runs(everything, to):
    want = asked("SELECT run_id, p50, batch_size FROM runs ORDER BY run_id", everything)
    got = rows(neurolens.read(everything, to=to))
    assert [{name: row[name] for name in want[0]} for row in got] == want


@pytest.mark.parametrize("table", ["samples", "samples_long", "ops"])
def test_read_other_tables(everything, table):
    got = neurolens.read(everything, table=table)
    assert [got.num_rows] == [row["n"] for row in asked(f"SELECT count(*) AS n FROM {table}", everything)]


def test_types(everything):
    table = neurolens.read(everything)
    frame = neurolens.read(everything, to="pandas")
    assert str(frame["batch_size"].dtype) == "int64[pyarrow]"
    assert frame["batch_size"].isna().sum() == table["batch_size"].null_count > 0
    assert str(frame["started_at"].dtype) == "timestamp[us, tz=UTC][pyarrow]"
    import pyarrow

    assert pyarrow.Table.from_pandas(frame, preserve_index=False).equals(table)


def test_parameters_as_dicts():
    quick = {"repeats": 1, "iterations": 1, "warmup": 0}
    neurolens.bench({**quick, "command": ["sleep", "{a}"], "grid": {"a": [0]}})
    neurolens.bench({**quick, "command": ["sleep", "{b}"], "grid": {"b": [0]}})
    neurolens.bench({**quick, "command": ["true"]})
    column = neurolens.read("runs_store", to="pandas")["params"].dropna()
    assert [dict(pairs) for pairs in column] == [{"a": "0"}, {"b": "0"}]


def test_null_is_not_nan(everything, to):
    table = neurolens.query("SELECT 'NaN'::DOUBLE AS x UNION ALL SELECT NULL", everything, to=to)
    values = [row["x"] for row in rows(table)]
    assert sorted(values, key=str) == ["NaN", None]


def test_filters(measured):
    assert neurolens.read(measured, "n>=3", "status=ok").num_rows == 5
    assert neurolens.read(measured, "n=3 or n=4").num_rows == 2
    assert neurolens.read(measured, "status=timeout", to="pandas").shape[0] == 0


def test_removed_runs_and_later_tags(tmp_path):
    neurolens.bench({"command": ["true", "{n}"], "grid": {"n": [1, 2, 3]}, "repeats": 1, "iterations": 1}, store="s")
    call("rm", "n=2", "--store=s")
    call("tag", "n=3", "note=late", "--store=s")
    assert neurolens.read("s").num_rows == neurolens.query("FROM runs", "s").num_rows == 2
    assert neurolens.read("s", "tag.note=late").num_rows == 1


def test_several_stores(measured, tmp_path):
    neurolens.bench({"command": ["true"], "repeats": 1, "iterations": 1}, store=tmp_path / "other")
    assert neurolens.read([measured, tmp_path / "other"]).num_rows == 9
    assert neurolens.read((measured, str(measured))).num_rows == 8
    assert neurolens.query("FROM runs", [measured, tmp_path / "other"]).num_rows == 9


def test_no_store_is_named(tmp_path, monkeypatch, measured):
    with pytest.raises(neurolens.Error) as caught:
        neurolens.read(None)
    assert caught.value.exit_code == 5
    monkeypatch.setenv("NEUROLENS_STORE", str(measured))
    assert neurolens.read(None).num_rows == neurolens.query("FROM runs").num_rows == 8
    with pytest.raises(ValueError, match="want a directory"):
        neurolens.read([])


def test_remarks_appear(measured, capsys):
    assert neurolens.read(measured, "benchmark=nosuch").num_rows == 0
    assert "no run matches benchmark=nosuch" in capsys.readouterr().err


def test_large_answer(measured, to):
    table = neurolens.query("SELECT i, i % 7 AS j FROM range(1500000) t(i)", measured, to=to)
    assert len(table) == 1_500_000


def test_other_tables_are_refused(measured):
    with pytest.raises(ValueError, match='want "arrow"'):
        neurolens.read(measured, to="numpy")
    with pytest.raises(neurolens.Error) as caught:
        neurolens.read(measured, table="nosuch")
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("missing", TABLES)
def test_missing_package(missing, monkeypatch, tmp_path):
    package = missing.replace("arrow", "pyarrow")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"pip install 'neurolens\[{missing}\]'"):
        neurolens.bench({"command": ["true"]}, to=missing)
    assert list(tmp_path.iterdir()) == []
