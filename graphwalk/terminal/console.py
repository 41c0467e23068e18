"""Output of the command line: messages on stderr, data on stdout."""

import errno
import os
import re
import select
import sys
import warnings
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TextIO

from graphwalk.errors import GraphwalkError
from graphwalk.sanitise import printable
from graphwalk.variables import read_variables

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


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
            with self.capture() as printed:
                super().print(*objects, **how)
            text = re.sub(r" +\n", "\n", printed.get())
            super().print(text, end="", markup=False, emoji=False, soft_wrap=True)

        def on_broken_pipe(self) -> None:
            """Raise BrokenPipeError, which `reader_gone` explains; for messages end the program."""
            if messages:
                super().on_broken_pipe()
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    limited = stream.isatty() or read_variables().get("COLUMNS")
    return Stream(stderr=messages, highlight=False, soft_wrap=messages, width=None if limited else NO_LIMIT)


def say(text: str) -> None:
    """Print a message on stderr, without interpreting markup."""
    stderr().print(printable(text), markup=False)


def data(text: str) -> None:
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
        table.add_row(*(Text(printable(cell)) for cell in row))
    for column in table.columns[:-1]:
        column.no_wrap = True
    stdout().print(table, width=None if stdout().is_terminal else NO_LIMIT)


def reader_gone() -> bool:
    """Return True if the reader of the output pipe has ended (`| head`)."""
    try:
        poller = select.poll()
        poller.register(sys.__stdout__.fileno(), 0)  # type: ignore[union-attr]
        return any(event & select.POLLERR for _, event in poller.poll(0))
    except (OSError, ValueError, AttributeError):
        return False


def show_error(error: GraphwalkError) -> None:
    """Print the cause and the next step, with secrets redacted."""
    secrets = read_variables().secrets
    say(f"error: {secrets.redact(str(error))}")
    if error.hint:
        say(f"  try: {secrets.redact(error.hint)}")


def show_warnings_as_lines() -> None:
    """Show warnings as one line, without source code."""

    def show(message: Warning | str, *where: Any, **more: Any) -> None:
        say(f"warning: {message}")

    warnings.showwarning = show
