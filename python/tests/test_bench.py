"""Sweeps that are run from Python."""

import contextlib
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
from neurolens._program import PATIENCE

README = Path(__file__).parent.parent / "README.md"
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
    assert dict(table["env"][0].as_py())["python.executable"].startswith(sys.prefix)
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
    with pytest.raises(neurolens.Error, match=r"^sweep: unknown key comand"):
        neurolens.bench({"comand": ["true"]})


def test_dict_has_no_suite():
    assert neurolens.bench(QUICK)["suite"].to_pylist() == [None]


def test_arguments_of_other_types(tmp_path):
    for wrong in (5, None, [("command", ["true"])]):
        with pytest.raises(TypeError, match=f"^sweep: want a path or a dict, got {type(wrong).__name__}$"):
            neurolens.bench(wrong)
    with pytest.raises(TypeError, match=r"^options are texts: write '2'$"):
        neurolens.bench(QUICK, "--repeats", 2)
    for text in ("repeats: 3", "{command: ['true']}", "command: ['true']\nrepeats: 1\n" + "# \n" * 2000):
        with pytest.raises(
            neurolens.Error, match=r"; a text is the path of a sweep file; pass a dict for its keys$"
        ) as caught:
            neurolens.bench(text)
        assert caught.value.exit_code == 2
    with pytest.raises(neurolens.Error) as caught:
        neurolens.bench("nosuch.yaml")
    assert "a dict" not in str(caught.value)
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


def slow(seconds):
    """Return a sweep of two runs. The second one sleeps, unless a file is there; the seconds identify its process.

    Its cleanup then takes longer than the patience with a program that has had a Ctrl-C.
    """
    quick = "test {n} = 0 || test -e done"
    command, cleanup = (["sh", "-c", f"{quick} || exec sleep {time}"] for time in (seconds, PATIENCE + 1))
    return {**QUICK, "suite": "slow", "command": command, "cleanup": cleanup, "grid": {"n": [0, 1]}}


SESSION = """
import sys, neurolens
try:
    neurolens.bench(SWEEP)
except KeyboardInterrupt:
    sys.exit("interrupted")
"""


@pytest.mark.parametrize("group", [False, True], ids=["one process", "as a terminal"])
def test_interrupt(group):
    seconds = f"{600 + int(group)}.{os.getpid()}"
    with sleeping(seconds) as process:
        if group:
            os.killpg(process.pid, signal.SIGINT)
        else:
            os.kill(process.pid, signal.SIGINT)
        stderr = process.communicate(timeout=600)[1]
    assert stderr.endswith("interrupted\n"), stderr
    assert "interrupted: finished runs are stored; " in stderr
    waited(lambda: not running("sleep", seconds))
    assert sorted(neurolens.read("runs_store")["status"].to_pylist()) == ["cancelled", "ok"]

    Path("done").touch()
    table = neurolens.bench(slow(seconds))
    assert table["status"].to_pylist() == ["ok", "ok"]
    assert len(set(table["session_id"].to_pylist())) == 2


def test_killed():
    mark = f"mark={os.getpid()}"
    wait = "test {n} = 1 || until test -e killed; do sleep 0.05; done"
    sweep = {**QUICK, "command": ["sh", "-c", wait], "grid": {"n": range(1, 10)}}
    code = f"import neurolens; neurolens.bench({sweep!r}, '--tag', {mark!r})"
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True) as process:
        assert any("repeat 1" in line for line in process.stderr)  # the first run is stored
        process.kill()
    Path("killed").touch()
    waited(lambda: not running("--tag", mark))
    assert 1 <= neurolens.read("runs_store", "status=ok").num_rows < 9


@contextlib.contextmanager
def sleeping(seconds):
    """Start a session of two runs in a process group of its own, and go on when the second one runs."""
    code = SESSION.replace("SWEEP", repr(slow(seconds)))
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        waited(lambda: running("sleep", seconds))
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def waited(done):
    for _ in range(6000):
        if done():
            return
        time.sleep(0.05)
    raise TimeoutError


def running(*words):
    """Tell whether a process has these words in its command line."""
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has ended
            if "\0".join([*words, ""]).encode() in file.read_bytes():
                return True
    return False


def test_no_time():
    assert neurolens.bench(QUICK, "--max-time=1ns").num_rows == 0


def test_example_of_the_page(tmp_path):
    page = Path(os.environ["NEUROLENS_TEST_PAGE"]).read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.S)
    assert len(blocks) >= 6
    blocks += re.findall(r"```python\n(.*?)```", README.read_text(), re.S)
    names = {}
    for block in blocks[:-1]:
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
    assert [params["n"] for params in names["params"][4:]] == ["1", "2", "1", "2"]
    assert call("query", "--format=csv", "SELECT count(*) FROM runs").stdout.split()[1] == "8"
    exec(compile(blocks[-1], "README.md", "exec"), {})
