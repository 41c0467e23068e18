"""The terminal of a command: messages on stderr, data on stdout, progress, and signals."""

import io
import logging
import os
import re
import shutil
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from graphwalk.errors import ConfigError, FileNote, GraphwalkError
from graphwalk.sanitise import printable
from graphwalk.variables import read_variables

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

T = TypeVar("T")
QUIET_SECONDS = 60.0
_SPEED_SECONDS = 600.0
"""Time over which the speed is measured, for the time left."""


class ProgressBar:
    """A progress bar with time left. Call it with the number of steps completed."""

    def __init__(self, title: str, total: int | None = None, *, live: bool = False) -> None:
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
        from rich.text import Text

        bar = self

        class Display(Progress):
            def get_renderables(self) -> "Iterator[RenderableType]":
                """Yield the bar, and below it the numbers, which wrap where they are too long."""
                yield self.make_tasks_table(self.tasks)
                numbers = bar.numbers() if self.tasks else ""
                if numbers:
                    yield Text(numbers, no_wrap=False, overflow="fold")

        self.live = live
        self.detail: Callable[[], str] = str
        """Returns what `numbers` ends with, "" by default."""
        self.display = Display(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=16),
            TimeElapsedColumn(),
            console=stderr(),
            transient=True,
            redirect_stdout=False,
            speed_estimate_period=_SPEED_SECONDS,
            disable=not live,
        )
        self._id = self.display.add_task(title, total=total)

    def __call__(self, number: int = 1) -> None:
        self.display.advance(self._id, number)

    def each(self, things: Iterable[T]) -> Iterator[T]:
        """Yield the things, and advance by one for each."""
        for thing in things:
            yield thing
            self()

    def begin(self, title: str, total: int, done: int = 0) -> None:
        """Start a stage of the work with a known total."""
        self.display.update(self._id, description=title, total=total, completed=done)

    @property
    def seconds(self) -> float:
        return self.display.tasks[0].elapsed or 0.0

    def numbers(self) -> str:
        """Return the state in words: `40/120 · 0:32 left`, followed by `detail`."""
        task = self.display.tasks[0]
        parts = []
        if task.total is not None:
            parts.append(f"{task.completed:,.0f}/{task.total:,.0f}")
        elif task.completed:
            parts.append(f"{task.completed:,.0f}")
        if task.time_remaining:
            parts.append(f"{clock(task.time_remaining)} left")
        detail = self.detail()
        if detail:
            parts.append(detail)
        return " · ".join(parts)

    def __str__(self) -> str:
        title = self.display.tasks[0].description
        parts = [title, self.numbers(), clock(self.seconds)]
        return " · ".join(part for part in parts if part)


@contextmanager
def progress_bar(title: str, total: int | None = None) -> Iterator[ProgressBar]:
    """Show progress while the block runs."""
    if sys.stderr.isatty():
        bar = ProgressBar(title, total, live=True)
        with bar.display:
            yield bar
        return

    bar = ProgressBar(title, total)
    ended = threading.Event()

    def tell() -> None:
        while not ended.wait(QUIET_SECONDS):
            print_message(str(bar))

    threading.Thread(target=tell, daemon=True).start()
    try:
        yield bar
    finally:
        ended.set()


def clock(seconds: float) -> str:
    """Return seconds as `0:07`, `12:30` or `3:05:00`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02}:{rest:02}"
    return f"{minutes}:{rest:02}"


NO_LIMIT = 10_000
"""Columns that no table needs; the widest has some 300."""
PIPED = 120
"""Columns of tables with optional columns in a file or a pipe."""


@cache
def stderr() -> "Console":
    """Return the console for messages; plain if NO_COLOR is set or stderr is not a terminal."""
    return _console(sys.stderr, messages=True)


@cache
def stdout() -> "Console":
    """Return the console for tables that were asked for."""
    return _console(sys.stdout, messages=False)


def _console(stream: TextIO, messages: bool) -> "Console":
    """Return a console. In a file or a pipe, tables are as wide as their content, and no line ends in blanks."""
    from rich.console import Console

    class Stream(Console):
        def print(self, *objects: object, **how: Any) -> None:
            if self.is_terminal:
                super().print(*objects, **how)
                return
            # rich fills each cell up to the width of its column.
            with self.capture() as printed:
                super().print(*objects, **how)
            text = re.sub(r" +\n", "\n", printed.get())
            super().print(text, end="", markup=False, emoji=False, soft_wrap=True)

    width = None
    if not stream.isatty():
        width = shutil.get_terminal_size((NO_LIMIT, 0)).columns  # COLUMNS, if it is set
    return Stream(stderr=messages, highlight=False, soft_wrap=messages, width=width)


def prepare_streams() -> None:
    """Let neither a character nor a closed stream end a command.

    A file or a pipe gets UTF-8, a terminal `?` for what it cannot show. Without it, a table in a pipe of Windows (code
    page 1252) raises UnicodeEncodeError at its first line. Output goes nowhere where the caller closed it (`>&-`).
    """
    # Python has None in the place of a closed stream.
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115

    for stream in (sys.stdout, sys.stderr):
        if not isinstance(stream, io.TextIOWrapper):  # replaced by a test or a notebook
            continue
        if stream.isatty():
            stream.reconfigure(errors="replace")
        else:
            stream.reconfigure(encoding="utf-8", errors="replace")


def print_message(text: str) -> None:
    """Print a message on stderr, without interpreting markup."""
    stderr().print(printable(text), markup=False)


def print_data(text: str) -> None:
    """Print data on stdout, without control characters, and flush it, since a program may read it from a pipe."""
    sys.stdout.write(printable(text) + "\n")
    sys.stdout.flush()


def print_tables(tables: "RenderableType") -> None:
    """Print tables without the columns that do not fit, as wide as the terminal or COLUMNS, else 120 columns wide."""
    console = stdout()
    console.print(tables, width=None if console.width < NO_LIMIT else PIPED)


def print_columns(rows: Iterable[Sequence[str]]) -> None:
    """Print rows as data; on a terminal the last column is wrapped between words."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2, 0, 0))
    for row in rows:
        table.add_row(*[Text(printable(cell)) for cell in row])
    for column in table.columns[:-1]:
        column.no_wrap = True
    stdout().print(table, width=None if stdout().is_terminal else NO_LIMIT)


def show_error(error: GraphwalkError) -> None:
    """Print the cause and the next step, with secrets redacted."""
    print_message(f"error: {without_secrets(str(error))}")


def without_secrets(text: str) -> str:
    """Return a text with the secrets of the environment redacted."""
    with suppress(ConfigError):  # about `.env`, of which no variable is in use then
        return read_variables().secrets.redact(text)
    return text


class RedactedFormatter(logging.Formatter):
    """Formats log records, with their tracebacks, without secrets."""

    def format(self, record: logging.LogRecord) -> str:
        return without_secrets(super().format(record))


def show_warnings_as_lines() -> None:
    """Show warnings as one line, without source code."""

    def show(message: Warning | str, *where: Any, **more: Any) -> None:
        print_message(str(message) if isinstance(message, FileNote) else f"warning: {message}")

    warnings.showwarning = show


SIGNALS = (signal.SIGINT, signal.SIGTERM)
_TWICE_SECONDS = 0.5
"""Two signals within this time count as one: `timeout` signals both the process and its group."""


class Interrupted(BaseException):
    """The end of the work by a signal. `exit_code` is 128 + its number; `announced`: a message was printed."""

    def __init__(self, signum: int, *, announced: bool = False) -> None:
        super().__init__(signal.Signals(signum).name)
        self.exit_code = 128 + signum
        self.announced = announced


def heed_signals() -> None:
    """Raise SIGINT and SIGTERM as Interrupted; end the process in callbacks, where Python drops exceptions."""

    def stop(signum: int, frame: FrameType | None) -> None:
        raise Interrupted(signum)

    def dropped(unraisable: "sys.UnraisableHookArgs") -> None:
        if isinstance(unraisable.exc_value, Interrupted):
            os._exit(unraisable.exc_value.exit_code)
        sys.__unraisablehook__(unraisable)

    sys.unraisablehook = dropped
    for signum in SIGNALS:
        signal.signal(signum, stop)


class _Stop:
    """The effect of signals on the work of `run_async`."""

    def __init__(self, message: str) -> None:
        self.signum = 0
        """The first signal, 0 before it."""
        self.announced = False
        self._message = message
        self._time = 0.0
        self._cancel: Callable[[], object] | None = None
        """None where no work is running."""

    def handle(self, signum: int, frame: FrameType | None = None) -> None:
        """Handle a signal. May run between any two instructions of the main thread."""
        if not self.signum:
            self._handle_first(signum)
        elif time.monotonic() - self._time > _TWICE_SECONDS:
            try:
                stderr().show_cursor()  # a progress line hides it
            finally:
                os._exit(128 + signum)

    def _handle_first(self, signum: int) -> None:
        self._time = time.monotonic()
        self.signum = signum
        if self._cancel is not None:
            self._cancel()
        if self._message:
            with suppress(OSError, RuntimeError):  # stderr is gone, or the signal interrupts a write to it
                print_message(f"{signal.Signals(signum).name}: {self._message}")
                self.announced = True

    async def cancellable(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of the work, which a signal cancels."""
        import asyncio

        task = asyncio.ensure_future(work)
        self._cancel = partial(asyncio.get_running_loop().call_soon_threadsafe, task.cancel)
        # A signal may have come before there was something to cancel.
        if self.signum:
            task.cancel()
        try:
            return await task
        finally:
            self._cancel = None


def run_async(work: Coroutine[Any, Any, T], message: str = "") -> T:
    """Run `work` and return its result.

    The first SIGINT or SIGTERM cancels the work and prints `message`. Raise Interrupted after the clean-up, when all
    threads have ended. A second signal ends the process at once.
    """
    stop = _Stop(message)
    handlers_before = {signum: signal.signal(signum, stop.handle) for signum in SIGNALS}
    try:
        import asyncio  # `graphwalk --help` needs none

        return asyncio.run(stop.cancellable(work))
    except KeyboardInterrupt:
        # The embedded engine handles SIGINT itself during a query.
        stop.handle(signal.SIGINT)
        raise
    finally:
        if stop.signum:
            # The handler stays: a second signal ends the process during what follows.
            raise Interrupted(stop.signum, announced=stop.announced)
        for signum, handler in handlers_before.items():
            signal.signal(signum, handler)
