"""What the tests share. Go's TestWheel runs them in an environment in which the wheel is installed."""

import json
import os
import subprocess
import sysconfig
from pathlib import Path

import pytest

import neurolens

TABLES = ["arrow", "pandas", "polars"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Give each test an empty working directory, and a store of nobody else."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NEUROLENS_STORE", raising=False)
    return tmp_path


@pytest.fixture(params=TABLES)
def to(request):
    """Run a test with each kind of table."""
    return request.param


@pytest.fixture(scope="session")
def everything():
    """Return a store in which every column has a value, a NULL and the edges of its type."""
    return os.environ["NEUROLENS_TEST_STORE"]


@pytest.fixture(scope="session")
def measured(tmp_path_factory):
    """Return a store of eight runs, of which one failed."""
    store = tmp_path_factory.mktemp("measured") / "runs_store"
    sweep = {
        "suite": "measured",
        "command": ["sh", "-c", "test {n} != 8"],
        "grid": {"n": range(1, 9)},
        "iterations": 1,
        "warmup": 0,
        "repeats": 1,
    }
    assert neurolens.bench(sweep, store=store).num_rows == 8
    return store


def call(*arguments, status=0):
    """Run the installed program."""
    program = Path(sysconfig.get_path("scripts"), "neurolens")
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    return done


def asked(sql, store):
    """Return what the program itself answers."""
    return json.loads(call("query", "--format=json", f"--store={store}", sql).stdout)


def rows(table):
    """Return the rows of any of the tables, as JSON would have them."""
    if hasattr(table, "dtypes") and not hasattr(table, "to_arrow"):
        import pyarrow

        table = pyarrow.Table.from_pandas(table, preserve_index=False)
    elif hasattr(table, "to_arrow"):
        table = table.to_arrow()
    return [{name: plain(value) for name, value in row.items()} for row in table.to_pylist()]


def plain(value):
    """Return a value as JSON would have it."""
    if isinstance(value, float):
        return (
            value if abs(value) < float("inf") else {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
        )
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        return {key: plain(one) for key, one in value}
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if hasattr(value, "isoformat"):
        return value.isoformat().replace("+00:00", "Z")
    return value
