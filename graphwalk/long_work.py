"""How far long work is: a line that moves on a terminal, elsewhere a plain line a minute; on stderr, never in data."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from graphwalk.console import say, stderr

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

QUIET_SECONDS = 60.0
_RATE_SECONDS = 30.0
"""The rate is that of the last so many seconds: a slow start or a pause is not in it for ever."""


class Pace:
    """How fast things get done: `done` of `total` (None: nobody knows how many)."""

    def __init__(self, total: int | None, done: int = 0) -> None:
        self.total, self.done = total, done
        self._begun = time.monotonic()
        self._marks = [(self._begun, done)]

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

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._begun

    def __str__(self) -> str:
        """`40/120 · 2.5/s · 0:32 left`, as much of it as is known."""
        parts = [] if self.total is None and not self.done else [self._count()]
        if (rate := self.rate) is not None:
            parts.append(speed(rate))
        if self.left:
            parts.append(f"{clock(self.left)} left")
        return " · ".join(parts)

    def _count(self) -> str:
        return f"{self.done:,}" if self.total is None else f"{self.done:,}/{self.total:,}"


def speed(rate: float) -> str:
    """Return a rate per second as `2.5/s`, `12.0/min` or `3.0/h`: in the first unit that holds at least one."""
    unit, amount = next(((u, rate * s) for u, s in (("s", 1), ("min", 60)) if rate * s >= 1), ("h", rate * 3600))
    return f"{amount:,.1f}/{unit}"


def clock(seconds: float) -> str:
    """`0:07`, `12:30`, `3:05:00`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


@contextmanager
def now_and_then(told: Callable[[], str], seconds: float | None = None) -> Iterator[None]:
    """A line every so many seconds (None: QUIET_SECONDS) while the block runs, whether anything gets done or not."""
    over = threading.Event()

    def tell() -> None:
        while not over.wait(QUIET_SECONDS if seconds is None else seconds):
            say(told())

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()


class Step(Protocol):
    """Told of things done: one, or several at once."""

    def __call__(self, number: int = 1) -> None: ...


@contextmanager
def long_work(title: str, total: int | None = None) -> Iterator[Step]:
    """While the block runs, `title` and how far it is; the block calls what it is given after each thing done."""
    pace = Pace(total)
    if not sys.stderr.isatty():
        with now_and_then(lambda: " · ".join(filter(None, [title, str(pace), clock(pace.seconds)]))):
            yield pace.step
        return
    from rich.progress import Progress, TextColumn

    with Progress(
        *bar_columns(), TextColumn("{task.fields[detail]}", markup=False), console=stderr(), transient=True
    ) as bar:
        task = bar.add_task(title, total=total, detail="")

        def step(number: int = 1) -> None:
            pace.step(number)
            bar.update(task, advance=number, detail=str(pace))

        yield step


def bar_columns() -> "tuple[ProgressColumn, ...]":
    """What a moving line shows: what is done, a bar, and how long it has taken."""
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

    return (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=16),
        TimeElapsedColumn(),
    )
