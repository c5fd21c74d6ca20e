"""Sweeps that are run from Python."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import call, rows

import neurolens

QUICK = {"command": ["true"], "repeats": 1, "iterations": 1, "warmup": 0}


def test_dict(to, capsys):
    sweep = {**QUICK, "suite": "ü 😀 \u2028 \x7f", "command": ["sh", "-c", "test {n} != 2"], "grid": {"n": range(1, 4)}}
    got = rows(neurolens.bench(sweep, to=to))
    assert [row["status"] for row in got] == ["ok", "error", "ok"]
    assert {row["suite"] for row in got} == {sweep["suite"]}
    assert [row["params"]["n"] for row in got] == ["1", "2", "3"]
    assert rows(neurolens.read("runs_store", to=to)) == got
    assert len(re.findall("repeat 1", capsys.readouterr().err)) == 3


def test_only_its_own_runs():
    assert neurolens.bench(QUICK).num_rows == neurolens.bench({**QUICK, "command": ["sleep", "0"]}).num_rows == 1
    assert neurolens.read("runs_store").num_rows == 2


def test_values_of_other_kinds(tmp_path):
    import numpy

    Path("bench.py").write_text("def bench_n(n, x):\n    pass\n")
    sweep = {
        "file": Path("bench.py"),
        "params": {"x": numpy.float64(0.5)},
        "grid": {"n": numpy.array([1, 2])},
        "iterations": 2,
    }
    table = neurolens.bench(sweep, store=tmp_path / "s")
    assert [dict(params) for params in table["params"].to_pylist()] == [{"n": "1", "x": "0.5"}, {"n": "2", "x": "0.5"}]
    for wrong, error in [(float("nan"), ValueError), ({1, 2}, TypeError)]:
        with pytest.raises(error):
            neurolens.bench({**QUICK, "params": {"n": wrong}})


def test_file_and_options(tmp_path):
    Path("sweep.yaml").write_text("command: [sleep, '{n}']\ngrid: {n: [0]}\niterations: 1\n")
    table = neurolens.bench(Path("sweep.yaml"), "--repeats=2", "-P", "n=0,0.01", store="s")
    assert table.num_rows == 4
    with pytest.raises(neurolens.Error, match="nosuch") as caught:
        neurolens.bench("nosuch.yaml")
    assert caught.value.exit_code == 2


def test_wrong_sweep(tmp_path):
    for sweep, options in [({"comand": ["true"]}, []), ({}, []), (QUICK, ["--nosuch"]), (QUICK, ["--dry-run"])]:
        with pytest.raises(neurolens.Error) as caught:
            neurolens.bench(sweep, *options)
        assert caught.value.exit_code == 2
        assert str(caught.value) and "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_nothing_was_measured():
    with pytest.raises(neurolens.Error, match="nothing was measured") as caught:
        neurolens.bench({**QUICK, "command": ["false"]})
    assert caught.value.exit_code == 4
    assert neurolens.read("runs_store")["status"].to_pylist() == ["error"]


def test_large_sweep_is_not_cut():
    text = "x" * 100_000  # more than a pipe holds
    table = neurolens.bench({**QUICK, "tags": {"note": text, "more": text}})
    assert dict(table["tags"][0].as_py())["more"] == text


# A benchmark whose processes can be found by the number of seconds.
SLEEPS = """
import sys, neurolens
try:
    sweep = {"command": ["sleep", "{s}"], "grid": {"s": [0.01, SECONDS]}, "repeats": 1, "iterations": 1, "warmup": 0}
    neurolens.bench(sweep)
except KeyboardInterrupt:
    sys.exit("interrupted")
"""


@pytest.mark.parametrize("group", [False, True], ids=["one process", "as a terminal"])
def test_interrupt(group):
    seconds = f"{600 + int(group)}.{os.getpid()}"
    process = sleeping(seconds)
    if group:
        os.killpg(process.pid, signal.SIGINT)
    else:
        os.kill(process.pid, signal.SIGINT)
    stderr = process.communicate(timeout=60)[1]
    assert stderr.endswith("interrupted\n"), stderr
    assert "what finished is stored" in stderr
    assert gone(seconds)
    assert sorted(neurolens.read("runs_store")["status"].to_pylist()) == ["cancelled", "ok"]


def test_killed():
    seconds = f"602.{os.getpid()}"
    process = sleeping(seconds)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    assert gone(seconds)
    assert neurolens.read("runs_store", "status=ok").num_rows == 1


def sleeping(seconds):
    """Start a session of two runs in a process group of its own, and return when the second one runs."""
    process = subprocess.Popen(
        [sys.executable, "-c", SLEEPS.replace("SECONDS", seconds)],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    waited(lambda: running(seconds))
    return process


def gone(seconds):
    return waited(lambda: not running(seconds))


def waited(done):
    for _ in range(600):
        if done():
            return True
        time.sleep(0.05)
    raise TimeoutError


def running(seconds):
    """Tell whether a process has these words."""
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if file.read_bytes() == b"sleep\0%s\0" % seconds.encode():
                return True
        except OSError:
            pass  # it has ended
    return False


def test_goes_on():
    sweep = {**QUICK, "suite": "on", "command": ["true", "{n}"], "grid": {"n": range(5)}}
    began = neurolens.bench(sweep, "--targets=*", "--max-time=1ns")
    assert began.num_rows == 0
    neurolens.bench(sweep, "-P", "n=0,1")
    table = neurolens.bench(sweep)
    assert sorted(dict(params)["n"] for params in table["params"].to_pylist()) == list("01234")


def test_example_of_the_page(tmp_path):
    page = Path(os.environ["NEUROLENS_TEST_PAGE"]).read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.S)
    assert len(blocks) >= 6
    names = {}
    for block in blocks:
        exec(compile(block, "page", "exec"), names)
    function = re.search(r"^def run\(.*?(?=^\S|\Z)", blocks[0][blocks[0].index("def run(") :], re.S | re.M)
    assert len(function[0].strip().splitlines()) == 3
    results = names["results"]
    assert sorted(zip(results["benchmark"], results["batch_size"])) == [
        ("GELU", 16),
        ("GELU", 32),
        ("LayerNorm", 16),
        ("LayerNorm", 32),
    ]
    assert names["fastest"] in ("GELU", "LayerNorm")
    assert names["runs"].num_rows == names["both"].num_rows / 2 == 2
    assert list(names["again"]["status"]) == ["ok"] * 4
    assert call("query", "--format=csv", "SELECT count(*) FROM runs").stdout.split()[1] == "8"
