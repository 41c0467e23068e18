"""Live progress: one moving line on a terminal, elsewhere a plain line now and then."""

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from graphwalk.console import counted, say, stderr

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    from graphwalk.models.prices import KnownPrice
    from graphwalk.runlog.result import Result
    from graphwalk.runner.progress import Progress
    from graphwalk.types.chat import Usage

_QUIET_SECONDS = 10.0
_TELLING = 5
"""Episodes after which the cost of all is guessed from that of those done."""


class Counts:
    """The numbers to show: episodes, correct answers so far, calls, tokens, cost."""

    def __init__(self) -> None:
        self.episodes = self.done = self.scored = self.correct = self.failed = self.calls = 0
        self.usage: Usage | None = None
        """Of all episodes that are done, those of earlier processes too."""
        self.unpriced = False
        self.source = "its provider"

    def price(self, spent: "Usage", prices: "Mapping[str, KnownPrice]") -> None:
        self.usage = spent
        self.unpriced = bool(spent.total_tokens) and spent.cost is None
        if prices:
            self.source = " and ".join(sorted({price.source for price in prices.values()}))
        for model, price in prices.items():
            say(f"price of {model}: {price}")

    def add(self, result: "Result") -> None:
        self.done += 1
        self.calls += len(result.trajectory.results)
        self.usage = result.usage if self.usage is None else self.usage + result.usage
        self.unpriced |= bool(result.usage.total_tokens) and result.usage.cost is None
        if result.score is None:
            self.failed += 1
        else:
            self.scored += 1
            self.correct += bool(result.score["correct"])

    def line(self, seconds: float) -> str:
        """All of it."""
        return f"{self.done}/{self.episodes} · {self} · {seconds:.1f} s"

    def __str__(self) -> str:
        parts = [f"{self.correct}/{self.scored} correct", counted(self.calls, "tool call")]
        if self.usage is not None and self.usage.total_tokens:
            about = "about " if self.usage.estimated else ""
            parts += [f"{about}{self.usage.total_tokens:,} tokens", self._cost(self.usage)]
        if self.failed:
            parts.append(f"{self.failed} failed")
        return " · ".join(parts)

    def _cost(self, usage: "Usage") -> str:
        """Cost so far and, when some episodes have shown it, what all of them may cost; unknown stays unknown."""
        if usage.cost is None:
            return "cost unknown"
        if self.unpriced:
            return f"${usage.cost:.4f} and unknown cost"
        known = f"${usage.cost:.4f}"
        if _TELLING <= self.done < self.episodes:
            known += f" of about ${usage.cost / self.done * self.episodes:.2f}"
        return f"{known} by {self.source}"


class QuietProgress:
    """For logs and pipes."""

    def __init__(self) -> None:
        self._counts = Counts()
        self._begun = self._said = time.monotonic()

    def planning(self, tasks: int) -> None: ...

    def priced(self, spent: "Usage", prices: "Mapping[str, KnownPrice]") -> None:
        self._counts.price(spent, prices)

    def started(self, episodes: int, done: int) -> None:
        self._counts.episodes, self._counts.done = episodes, done
        say(counted(episodes, "episode") + (f", {done} of them done before" if done else ""))

    def finished(self, result: "Result") -> None:
        self._counts.add(result)
        now, last = time.monotonic(), self._counts.done == self._counts.episodes
        if last or now - self._said >= _QUIET_SECONDS:
            self._said = now
            say(self._counts.line(now - self._begun))

    def note(self, text: str) -> None:
        say(f"note: {text}")


class LiveProgress:
    """For a terminal: a line that moves with the counts below it, and at the end a line that stays."""

    def __init__(self, bar: "Bar") -> None:
        self._bar, self._counts = bar, Counts()
        self._begun = time.monotonic()
        self._task: TaskID = bar.add_task("making tasks", total=None, detail="")

    def planning(self, tasks: int) -> None:
        self._bar.update(self._task, detail=f"{tasks} so far")

    def priced(self, spent: "Usage", prices: "Mapping[str, KnownPrice]") -> None:
        self._counts.price(spent, prices)

    def started(self, episodes: int, done: int) -> None:
        self._counts.episodes, self._counts.done = episodes, done
        self._bar.update(self._task, description="episodes", total=episodes, completed=done, detail="")

    def finished(self, result: "Result") -> None:
        self._counts.add(result)
        self._bar.update(self._task, advance=1, detail=str(self._counts))

    def end(self) -> None:
        """The line that stays, where anything was played."""
        if self._counts.scored or self._counts.failed:
            line = self._counts.line(time.monotonic() - self._begun)
            stderr().print(line, markup=False, soft_wrap=False)

    def note(self, text: str) -> None:
        say(f"note: {text}")


@contextmanager
def progress_for_terminal() -> Iterator["Progress"]:
    """Live on a terminal, quiet elsewhere."""
    if not sys.stderr.isatty():
        yield QuietProgress()
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bar
    from rich.text import Text

    class TwoLines(Bar):
        """The counts have a line of their own, which is broken where it is too long and loses nothing."""

        def get_renderables(self) -> "Iterator[RenderableType]":
            yield self.make_tasks_table(self.tasks)
            yield from (Text(task.fields["detail"]) for task in self.tasks if task.fields["detail"])

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with TwoLines(*columns, console=stderr(), transient=True, redirect_stdout=False) as bar:
        live = LiveProgress(bar)
        try:
            yield live
        finally:
            live.end()
