"""NeuroLens from Python: run benchmarks, read runs, ask questions in SQL.

Every function starts the program ``neurolens``, which this package contains, and reads its answer as a stream. Nothing
is measured in the process of Python. Remarks and progress of the program appear on ``sys.stderr``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Union, overload

from neurolens._program import Error, answer
from neurolens._sweep import text_of
from neurolens._tables import reader

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas
    import polars
    import pyarrow

    Path = Union[str, os.PathLike[str]]
    Stores = Union[Path, Iterable[Path], None]
    Table = Literal["runs", "samples", "samples_long", "ops"]

__all__ = ["Error", "bench", "query", "read"]


@overload
def read(store: Stores, *filters: str, table: Table = ..., to: Literal["arrow"] = ...) -> pyarrow.Table: ...
@overload
def read(store: Stores, *filters: str, table: Table = ..., to: Literal["pandas"]) -> pandas.DataFrame: ...
@overload
def read(store: Stores, *filters: str, table: Table = ..., to: Literal["polars"]) -> polars.DataFrame: ...
def read(store: Stores, *filters: str, table: str = "runs", to: str = "arrow") -> Any:
    """Return the runs that match a filter, one row per run, oldest first.

    The rows are those of ``neurolens export``: removed runs are left out, tags are those of now, and a run that is in
    several stores counts once. No runs is a table without rows.

    Args:
        store: The directory of a store, or several. ``None`` is the one that the program finds: ``$NEUROLENS_STORE``,
            or ``runs_store`` in the working directory or above it.
        filters: Conditions in the language of ``neurolens help filter``, such as ``"batch_size>=8"``. All have to hold.
        table: ``"runs"`` has one row per run. ``"samples"`` has one row per run and metric, with the list of samples,
            ``"samples_long"`` one row per sample, and ``"ops"`` one row per operator of a profiled run.
        to: ``"arrow"``, ``"pandas"`` or ``"polars"``. The default is a ``pyarrow.Table``: it has exactly the types of
            the store, and both others can be made from it. A DataFrame of pandas has Arrow types, so that a value that
            was not measured (NULL) is ``<NA>`` and never NaN, and integers stay integers.

    Raises:
        Error: The filter is wrong (``exit_code`` 2), or the store cannot be read (5).
        ImportError: The package that ``to`` names is not installed.

    """
    arguments = ["export", *_stores(store), "--format=arrow", f"--table={table}", "--", "-", *filters]
    return _table(arguments, to)


@overload
def query(sql: str, store: Stores = ..., *, to: Literal["arrow"] = ...) -> pyarrow.Table: ...
@overload
def query(sql: str, store: Stores = ..., *, to: Literal["pandas"]) -> pandas.DataFrame: ...
@overload
def query(sql: str, store: Stores = ..., *, to: Literal["polars"]) -> polars.DataFrame: ...
def query(sql: str, store: Stores = None, *, to: str = "arrow") -> Any:
    """Answer one SELECT in the SQL of DuckDB over the views runs, samples, samples_long and ops of a store.

    Nothing outside the store can be read, and nothing can be written. ``neurolens help sql`` has views and examples.

    Args:
        sql: The text of the SELECT.
        store: As for ``read``.
        to: As for ``read``.

    Raises:
        Error: The SQL is wrong (``exit_code`` 2), the store cannot be read (5), or there is too little memory (6).
        ImportError: The package that ``to`` names is not installed.

    """
    return _table(["query", *_stores(store), "--format=arrow", "--", sql], to)


@overload
def bench(
    sweep: Path | Mapping[str, Any], *options: str, store: Path | None = ..., to: Literal["arrow"] = ...
) -> pyarrow.Table: ...
@overload
def bench(
    sweep: Path | Mapping[str, Any], *options: str, store: Path | None = ..., to: Literal["pandas"]
) -> pandas.DataFrame: ...
@overload
def bench(
    sweep: Path | Mapping[str, Any], *options: str, store: Path | None = ..., to: Literal["polars"]
) -> polars.DataFrame: ...
def bench(sweep: Path | Mapping[str, Any], *options: str, store: Path | None = None, to: str = "arrow") -> Any:
    """Run a sweep and return its runs, one row per run, with the columns of ``read``.

    Progress appears on ``sys.stderr``, one line per run. Every run is in the store as soon as it is finished. The table
    has the runs of this session and, where it goes on from an interrupted one, those that it did not have to run again.
    A run that failed is a row too: ``status`` and ``error`` say why.

    Ctrl-C stops the program, which keeps the runs that finished, and raises ``KeyboardInterrupt``. Call ``bench`` again
    to go on from there.

    Args:
        sweep: The path of a sweep file, or the sweep itself: a dict with the keys of a sweep file, whose values are
            what JSON has, paths, ranges, bytes, and numbers and arrays of numpy: a float32 of 0.1 is 0.1. Paths in it
            count from the working directory. A text is always a path, never YAML. The runs of a dict have no suite,
            unless it has the key ``suite``.
        options: Options of ``neurolens bench``, such as ``"--repeats=5"`` or ``"-P", "batch_size=8"``. Those that print
            something else than runs, such as ``"--dry-run"``, are an error.
        store: The directory of the store, which is made if it does not exist. ``None`` is as for ``read``; if there is
            none, it is ``runs_store`` in the working directory.
        to: As for ``read``.

    Raises:
        Error: The sweep is wrong or what it runs is missing (``exit_code`` 2), no run measured anything (4), or the
            store cannot be written (5).
        ImportError: The package that ``to`` names is not installed. Nothing has run then.
        TypeError: The sweep is neither a path nor a dict, a sweep has no such values, or an option is not a text.

    """
    for option in options:
        if not isinstance(option, str):
            msg = f"options are texts: write {str(option)!r}"
            raise TypeError(msg)
    arguments = ["bench", *options, *_stores(store), "--format=arrow"]
    if isinstance(sweep, Mapping):
        return _measured_dict([*arguments, "--config=-"], to, text_of(sweep).encode())
    if not isinstance(sweep, (str, os.PathLike)):
        msg = f"sweep: want a path or a dict, got {type(sweep).__name__}"
        raise TypeError(msg)
    try:
        return _table([*arguments, f"--config={os.fsdecode(sweep)}"], to)
    except Error as error:
        if isinstance(sweep, str) and ":" in sweep and not os.path.lexists(sweep):  # keys, not a path
            msg = f"{error}; a text is the path of a sweep file; pass a dict for its keys"
            raise Error(msg, error.exit_code) from None
        raise


def _measured_dict(arguments: list[str], to: str, stdin: bytes) -> Any:
    """Return the table of a sweep that is a dict, which has no name and no lines that an error could say."""
    try:
        return _table(arguments, to, stdin)
    except Error as error:
        message = re.sub(r"^standard input(:\d+)*: ", "sweep: ", str(error))
        raise Error(message, error.exit_code) from None


def _table(arguments: list[str], to: str, stdin: bytes | None = None) -> Any:
    read_stream = reader(to)  # first, so that nothing is measured in vain where a package is missing
    return answer(arguments, read_stream, stdin)


def _stores(store: Stores) -> list[str]:
    if store is None:
        return []
    stores = [store] if isinstance(store, (str, os.PathLike)) else list(store)
    if not stores:
        msg = "store: want a directory, got none; None is the one that the program finds"
        raise ValueError(msg)
    return [f"--store={os.fsdecode(one)}" for one in stores]
