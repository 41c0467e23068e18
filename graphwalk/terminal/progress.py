"""Progress bars on stderr: a live line on a terminal, else a plain line every minute."""

import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from graphwalk.terminal.console import say, stderr

if TYPE_CHECKING:
    from rich.console import RenderableType

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
                if self.tasks and (numbers := bar.numbers()):
                    yield Text(numbers, no_wrap=False, overflow="fold")

        self.live = live
        self.detail = ""
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

    def show(self, visible: bool) -> None:
        """Show or hide the bar on a terminal."""
        if self.live:
            self.display.start() if visible else self.display.stop()

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
        return " · ".join([*parts, self.detail] if self.detail else parts)

    def __str__(self) -> str:
        title = self.display.tasks[0].description
        return " · ".join(filter(None, [title, self.numbers(), clock(self.seconds)]))


@contextmanager
def progress_bar(title: str, total: int | None = None) -> Iterator[ProgressBar]:
    """Show progress while the block runs."""
    if sys.stderr.isatty():
        bar = ProgressBar(title, total, live=True)
        with bar.display:
            yield bar
        return
    bar, ended = ProgressBar(title, total), threading.Event()

    def tell() -> None:
        while not ended.wait(QUIET_SECONDS):
            say(str(bar))

    threading.Thread(target=tell, daemon=True).start()
    try:
        yield bar
    finally:
        ended.set()


def clock(seconds: float) -> str:
    """Return seconds as `0:07`, `12:30` or `3:05:00`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
