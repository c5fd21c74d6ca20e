"""Arrow streams as tables of three packages, each of which is imported when it is asked for."""

from __future__ import annotations

from typing import IO, Any, Callable

Reader = Callable[[IO[bytes]], Any]


def reader(to: str) -> Reader:
    """Return the function that reads a stream as such a table.

    Raises:
        ImportError: Its package is not installed.
        ValueError: There is no such table.

    """
    makers = {"arrow": _arrow, "pandas": _pandas, "polars": _polars}
    if to not in makers:
        msg = f'to={to!r}: want "arrow", "pandas" or "polars"'
        raise ValueError(msg)
    try:
        return makers[to]()
    except ImportError as error:
        msg = f"to={to!r} needs the package {error.name}: pip install 'neurolens[{to}]'"
        raise ImportError(msg, name=error.name) from error


def _arrow() -> Reader:
    from pyarrow import ipc

    def read(stream: IO[bytes]) -> Any:
        with ipc.open_stream(stream) as batches:
            return batches.read_all()

    return read


def _pandas() -> Reader:
    import pandas

    read = _arrow()
    return lambda stream: read(stream).to_pandas(types_mapper=pandas.ArrowDtype)


def _polars() -> Reader:
    import polars

    return polars.read_ipc_stream
