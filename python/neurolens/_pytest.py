"""A plugin of pytest that stores what pytest-benchmark measured. It does nothing without ``--neurolens``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from neurolens._program import answer

if TYPE_CHECKING:
    from pathlib import Path

OUTCOME = pytest.StashKey[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Define the options."""
    group = parser.getgroup("neurolens")
    group.addoption(
        "--neurolens",
        action="store_true",
        help="Store what pytest-benchmark measured, every round, with the environment of this machine.",
    )
    group.addoption(
        "--neurolens-store",
        metavar="DIR",
        help="The same, into the store DIR. Default: the one that the program finds.",
    )


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Store the benchmarks. An error is printed and fails no test: the tests alone decide the exit status."""
    config = session.config
    store = config.getoption("neurolens_store")
    if (not store and not config.getoption("neurolens")) or hasattr(config, "workerinput"):  # a worker of xdist
        return
    try:
        config.stash[OUTCOME] = _stored(config, store)
    except Exception as error:
        config.stash[OUTCOME] = f"nothing was stored: {error}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say what was stored."""
    outcome = config.stash.get(OUTCOME, "")
    if outcome:
        terminalreporter.write_line(f"neurolens: {outcome}")


def _stored(config: pytest.Config, store: str | None) -> str:
    """Store the benchmarks of a session, and return what became of them."""
    benchmarks = getattr(config, "_benchmarksession", None)
    if benchmarks is None:
        return "nothing was stored: pytest-benchmark is not installed"
    from pytest_benchmark.utils import safe_dumps

    commit = config.hook.pytest_benchmark_generate_commit_info(config=config)
    config.hook.pytest_benchmark_update_commit_info(config=config, commit_info=commit)
    document = config.hook.pytest_benchmark_generate_json(
        config=config,
        benchmarks=benchmarks.benchmarks,
        include_data=True,
        machine_info=benchmarks.get_machine_info(),
        commit_info=commit,
    )
    config.hook.pytest_benchmark_update_json(config=config, benchmarks=benchmarks.benchmarks, output_json=document)
    if not document["benchmarks"]:
        return "nothing was stored: no benchmark ran"
    folder = config.invocation_params.dir
    document["neurolens_env"] = _program(["env"], folder)
    into = ["--store", store] if store else []
    files = _program(["ingest", *into, "--from=pytest-benchmark", "-"], folder, safe_dumps(document).encode())
    runs, of = _count(files[0]["runs"], "run"), _count(len(document["benchmarks"]), "benchmark")
    return f"{runs} of {of} stored in {store or 'the store'}"


def _count(n: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _program(arguments: list[str], folder: Path, stdin: bytes | None = None) -> Any:
    """Return the rows that the program prints in a folder."""
    return answer([*arguments, "--format=json"], json.load, stdin, folder)
