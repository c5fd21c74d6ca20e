"""A plugin of pytest that stores what pytest-benchmark measured. It does nothing without ``--neurolens``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from neurolens._program import answer

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

OUTCOME = pytest.StashKey[str]()
NOT_PASSED = pytest.StashKey[set[str]]()


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


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note the tests that did not pass: what they measured may be of wrong work."""
    report = yield
    if not report.passed:
        item.config.stash.setdefault(NOT_PASSED, set()).add(item.nodeid)
    return report


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
    """Store the benchmarks of the tests that passed, and return what became of them."""
    measured = getattr(config, "_benchmarksession", None)
    if measured is None:
        return "nothing was stored: pytest-benchmark is not installed"
    not_passed = config.stash.get(NOT_PASSED, set())
    benchmarks = [one for one in measured.benchmarks if one.fullname not in not_passed]
    failed = len(measured.benchmarks) - len(benchmarks)
    left_out = f", {failed} left out: the test did not pass" if failed else ""
    from pytest_benchmark.utils import safe_dumps

    commit = config.hook.pytest_benchmark_generate_commit_info(config=config)
    config.hook.pytest_benchmark_update_commit_info(config=config, commit_info=commit)
    document = config.hook.pytest_benchmark_generate_json(
        config=config,
        benchmarks=benchmarks,
        include_data=True,
        machine_info=measured.get_machine_info(),
        commit_info=commit,
    )
    config.hook.pytest_benchmark_update_json(config=config, benchmarks=benchmarks, output_json=document)
    if not document["benchmarks"]:
        return "nothing was stored: no benchmark ran" + left_out
    folder = config.invocation_params.dir
    document["neurolens_env"] = _program(["env"], folder)
    into = ["--store", store] if store else []
    files = _program(["ingest", *into, "--from=pytest-benchmark", "-"], folder, safe_dumps(document).encode())
    runs, of = _count(files[0]["runs"], "run"), _count(len(document["benchmarks"]), "benchmark")
    return f"{runs} of {of} stored in {store or 'the store'}{left_out}"


def _count(n: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _program(arguments: list[str], folder: Path, stdin: bytes | None = None) -> Any:
    """Return the rows that the program prints in a folder."""
    return answer([*arguments, "--format=json"], json.load, stdin, folder)
