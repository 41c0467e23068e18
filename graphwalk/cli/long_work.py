"""How far long work is: a line that moves on a terminal, elsewhere a plain line a minute; always on stderr."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from graphwalk.console import say, stderr

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

QUIET_SECONDS = 60.0
_RATE_SECONDS = 30.0
"""The rate is that of the last so many seconds, so that a pause or a slow start is not in it for ever."""


class Pace:
    """How fast things get done: `done` of `total` (None: nobody knows how many)."""

    def __init__(self, total: int | None, done: int = 0) -> None:
        self.total, self.done = total, done
        self._marks = [(time.monotonic(), done)]

    def step(self, number: int = 1) -> None:
        self.done += number
        now = time.monotonic()
        if now - self._marks[-1][0] >= 1.0:
            self._marks.append((now, self.done))
        while len(self._marks) > 2 and now - self._marks[1][0] > _RATE_SECONDS:
            del self._marks[0]

    @property
    def rate(self) -> float | None:
        """Things a second; None before the first."""
        (then, before), now = self._marks[0], time.monotonic()
        return (self.done - before) / (now - then) if self.done > before and now > then else None

    @property
    def left(self) -> float | None:
        """Seconds until all are done, as far as one can tell."""
        rate = self.rate
        return None if rate is None or self.total is None else max(0, self.total - self.done) / rate

    def __str__(self) -> str:
        of = "" if self.total is None else f"/{self.total:,}"
        parts = [f"{self.done:,}{of}"]
        if self.rate is not None:
            parts.append(f"{self.rate:,.1f}/s" if self.rate >= 1 else f"{self.rate * 60:,.1f}/min")
        if self.left:
            parts.append(f"{clock(self.left)} left")
        return " · ".join(parts)


def clock(seconds: float) -> str:
    """`0:07`, `12:30`, `3:05:00`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


@contextmanager
def long_work(title: str, total: int | None = None) -> Iterator[Callable[[], None]]:
    """While the block runs, `title` and how far it is; the block calls what it is given after each thing done."""
    if sys.stderr.isatty():
        with moving_line(title, total) as step:
            yield step
        return
    pace, said = Pace(total), time.monotonic()

    def step() -> None:
        nonlocal said
        pace.step()
        if time.monotonic() - said >= QUIET_SECONDS:
            said = time.monotonic()
            say(f"{title}: {pace}")

    yield step


@contextmanager
def moving_line(title: str, total: int | None) -> Iterator[Callable[[], None]]:
    from rich.progress import Progress

    pace = Pace(total)
    with Progress(*columns(), console=stderr(), transient=True) as bar:
        task = bar.add_task(title, total=total, pace="")

        def step() -> None:
            pace.step()
            bar.update(task, advance=1, pace=str(pace))

        yield step


def columns() -> "tuple[ProgressColumn, ...]":
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

    return (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[pace]}", markup=False),
        TimeElapsedColumn(),
    )
