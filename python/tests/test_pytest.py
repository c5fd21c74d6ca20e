"""The plugin of pytest, in a pytest of its own."""

import json
import subprocess
import sys

import pytest
from conftest import asked, call

BENCHMARKS = """
import pytest

@pytest.mark.parametrize("n", [1, 2])
def test_sum(benchmark, n):
    benchmark.pedantic(sum, args=(range(n),), rounds=7)

def test_wrong(benchmark):
    benchmark.pedantic(sum, args=([1],), rounds=3)
    assert False

def test_plain():
    pass
"""


@pytest.fixture
def suite(folder):
    """Return a call of pytest over a file with benchmarks, which checks its exit status."""
    (folder / "test_suite.py").write_text(BENCHMARKS)

    def run(*arguments, status=1):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout

    return run


def test_stores_every_round(suite, folder):
    out = suite("--neurolens-store", "kept", "test_suite.py")
    assert "neurolens: 2 runs of 2 benchmarks stored in kept, 1 left out: the test did not pass" in out
    rows = asked(
        """
        SELECT benchmark, params['n'] AS n, status, samples.n_samples, len(samples.values) AS rounds, samples.unit,
            machine, host_id, env['cpu.threads'] AS threads, cpu_count, len(map_keys(env_missing)) > 0 AS missing
        FROM runs JOIN samples USING (run_id) ORDER BY ALL""",
        folder / "kept",
    )
    (machine,) = {row.pop("machine") for row in rows}
    (threads,) = {row.pop("threads") for row in rows}
    assert {row.pop("host_id") is not None for row in rows} == {True}
    facts = json.loads(call("env", "--format=json").stdout)
    assert machine == next(row["value"] for row in facts if row["fact"] == "machine")
    same = {"status": "ok", "unit": "ns", "cpu_count": int(threads), "missing": True}
    assert rows == [
        {"benchmark": "test_suite.py::test_sum", "n": "1", "n_samples": 7, "rounds": 7, **same},
        {"benchmark": "test_suite.py::test_sum", "n": "2", "n_samples": 7, "rounds": 7, **same},
    ]


def test_is_off(suite, folder):
    assert "neurolens" not in suite("test_suite.py")
    assert not (folder / "runs_store").exists()


def test_store_that_the_program_finds(suite, folder, monkeypatch):
    monkeypatch.setenv("NEUROLENS_STORE", str(folder / "found"))
    assert "2 runs of 2 benchmarks stored" in suite("--neurolens", "test_suite.py")
    assert len(asked("SELECT 1 FROM runs", folder / "found")) == 2
    assert "1 run of 1 benchmark stored" in suite("--neurolens", "test_suite.py::test_sum[1]", status=0)


def test_fails_no_test(suite, folder):
    (folder / "file").write_text("")
    passing = ("test_suite.py::test_plain", "test_suite.py::test_sum")
    assert "neurolens: nothing was stored: " in suite("--neurolens-store", "file/store", *passing, status=0)
    assert "nothing was stored: no benchmark ran" in suite("--neurolens", passing[0], status=0)
    wrong = suite("--neurolens", "test_suite.py::test_wrong")
    assert "nothing was stored: no benchmark ran, 1 left out: the test did not pass" in wrong
    assert "pytest-benchmark is not installed" in suite("--neurolens", "-p", "no:benchmark", passing[0], status=0)
