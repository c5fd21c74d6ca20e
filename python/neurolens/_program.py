"""The program: where it is, how it is started, and what becomes of its errors."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
from importlib import metadata
from pathlib import Path
from typing import IO, TYPE_CHECKING, Callable, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

    T = TypeVar("T")

NAME = "neurolens"
RUNS_FAILED = 4  # the exit status of a session that is complete, in which runs failed
NOTHING_MEASURED = "nothing was measured"
PATIENCE = 2.0  # seconds in which a program that has had a Ctrl-C itself ends


class Error(Exception):
    """The program ended with an error. The message is the one line that it printed.

    Attributes:
        exit_code: The exit status; ``neurolens help exit-codes`` says what each means. A negative one is a signal.

    """

    def __init__(self, message: str, exit_code: int) -> None:
        """Make the error of a message and an exit status."""
        super().__init__(message)
        self.exit_code = exit_code

    def __reduce__(self) -> tuple[type[Error], tuple[str, int]]:
        """Let the error pass between processes."""
        return type(self), (str(self), self.exit_code)


def program() -> str:
    """Return the path of the program: the one that was installed with this package, or else the one on ``PATH``."""
    for path in _installed():
        if path.is_file():
            return str(path)
    found = shutil.which(NAME)
    if found is None:
        msg = f"the program {NAME} was not installed with this package, and is not on PATH"
        raise FileNotFoundError(msg)
    return found


def _installed() -> Iterator[Path]:
    """Yield where an installer may have put the program."""
    try:
        files = metadata.files(NAME) or []
    except metadata.PackageNotFoundError:
        return
    for file in files:
        if file.name == NAME and file.parent.name == "bin":
            yield Path(str(file.locate())).resolve()
    yield Path(__file__).parent.parent / "bin" / NAME  # pip install --target, whose list of files is not adapted


def answer(
    arguments: list[str], read: Callable[[IO[bytes]], T], stdin: bytes | None = None, folder: Path | None = None
) -> T:
    """Start the program, in a folder if one is given, and return what ``read`` makes of its standard output.

    Raises:
        Error: The program ended with an error.

    """
    source = subprocess.DEVNULL if stdin is None else subprocess.PIPE
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        [program(), *arguments], stdin=source, stdout=pipe, stderr=pipe, env=_environment(), cwd=folder
    )
    assert process.stdout is not None
    assert process.stderr is not None
    remarks = _Remarks(process.stderr)
    remarks.start()
    table = cut = None
    patience: float | None = PATIENCE
    try:
        _send(process, stdin)
        table = read(process.stdout)
        patience = None
    except Exception as error:  # mostly a stream that is empty or cut: the exit status says why
        cut = error
    finally:
        stopped = _end(process, patience)
        process.stdout.close()
        remarks.join()
        process.stderr.close()
        code, message = process.returncode, remarks.last() if process.returncode else ""
        remarks.show()
    if stopped:
        raise cut or KeyboardInterrupt
    if code not in (0, RUNS_FAILED) or message.startswith(NOTHING_MEASURED):
        raise Error(message or _ended(arguments[0], code), code) from None
    if cut is not None:
        raise cut
    return table  # type: ignore[return-value]


def _environment() -> dict[str, str]:
    """Return the environment of the program: benchmarks in Python find the packages that this process has."""
    if sys.prefix == sys.base_prefix:
        return dict(os.environ)
    return {**os.environ, "VIRTUAL_ENV": sys.prefix}


def _ended(command: str, code: int) -> str:
    if code < 0:
        return f"neurolens {command} was ended by {signal.Signals(-code).name}"
    return f"neurolens {command} ended with exit status {code}"


def _send(process: subprocess.Popen[bytes], text: bytes | None) -> None:
    if process.stdin is None:
        return
    try:
        with process.stdin:
            process.stdin.write(text or b"")
    except BrokenPipeError:
        pass  # it ended before it read all, and says why


def _end(process: subprocess.Popen[bytes], patience: float | None) -> bool:
    """Wait until the program has ended, and return whether it was made to end.

    A program whose answer was read ends by itself. Otherwise something has interrupted this process: usually a Ctrl-C,
    which a terminal and Jupyter send to the program too. Where they did not, SIGHUP is sent after some patience. A
    second SIGINT would end the program before it has stored the run that it interrupts; a SIGHUP after the first one
    does nothing. A program that nohup started ignores SIGHUP.
    """
    ask = signal.SIGINT if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else signal.SIGHUP
    stopped = False
    if patience is not None and process.stdout is not None:
        process.stdout.close()  # what it still writes, nobody reads
    while True:
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            patience = None
            process.send_signal(ask)
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)
        else:
            return stopped
        stopped = True


class _Remarks(threading.Thread):
    """Copies lines of standard error to sys.stderr, but for a last one that may be the error."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(name="neurolens-remarks", daemon=True)
        self._stream = stream
        self._held = ""

    def run(self) -> None:
        for line in self._stream:
            self.show()
            text = line.decode("utf-8", "replace")
            if text.startswith(NAME + ": "):
                self._held = text
            else:
                _print(text)

    def last(self) -> str:
        """Return the line that is held back, without the name of the program. It is not shown any more."""
        held, self._held = self._held, ""
        return held[len(NAME) + 2 :].strip()

    def show(self) -> None:
        held, self._held = self._held, ""
        if held:
            _print(held)


def _print(text: str) -> None:
    """Write to sys.stderr if it works: it may be closed, know only ASCII, or be None in a program without a console.

    An exception would end the thread that reads the pipe, and the program would block as soon as the pipe is full.
    """
    if sys.stderr is None:
        return
    with contextlib.suppress(Exception):
        try:
            sys.stderr.write(text)
        except UnicodeEncodeError:
            sys.stderr.write(text.encode("ascii", "backslashreplace").decode("ascii"))
        sys.stderr.flush()
