"""Live progress: one moving line on a terminal, elsewhere a plain line now and then."""

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from graphwalk.console import counted, printable, say, stderr
from graphwalk.long_work import Pace, bar_columns, clock, now_and_then

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    from graphwalk.models.prices import KnownPrice
    from graphwalk.runlog.result import Result
    from graphwalk.runner.progress import Progress
    from graphwalk.types.chat import Usage

_TELLING = 5
"""Episodes after which the cost of all is guessed from that of those done."""


class Counts:
    """The numbers to show: episodes, correct answers so far, calls, tokens, cost."""

    def __init__(self) -> None:
        self.episodes = 0
        """Of the whole run; 0 as long as it is being planned."""
        self.done = self.scored = self.correct = self.failed = self.calls = 0
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

    def begin(self, episodes: int, done: int) -> None:
        self.episodes = episodes
        self.done += done
        if done and done == episodes:
            say(f"nothing left to do: {'the episode has' if done == 1 else f'all {done} episodes have'} a score")

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
        return f"{self.done}/{self.episodes or '…'} · {self} · {seconds:.1f} s"

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
    """For logs and pipes: a line a minute, and one at the end."""

    def __init__(self) -> None:
        self._counts = Counts()
        self._tasks = 0
        self._pace: Pace | None = None

    def planning(self, tasks: int) -> None:
        self._tasks = tasks

    def priced(self, spent: "Usage", prices: "Mapping[str, KnownPrice]") -> None:
        self._counts.price(spent, prices)

    def started(self, episodes: int, done: int) -> None:
        self._counts.begin(episodes, done)
        self._pace = Pace(episodes, self._counts.done)
        say(counted(episodes, "episode") + (f", {done} of them done before" if done else ""))
        if done < self._counts.done == episodes:
            say(str(self))

    def finished(self, result: "Result") -> None:
        self._counts.add(result)
        if self._pace is not None:
            self._pace.step()
        if self._counts.done == self._counts.episodes:
            say(str(self))

    def note(self, text: str) -> None:
        say(f"note: {text}")

    def __str__(self) -> str:
        if self._pace is None:
            begun = f" · {self._counts.done} played · {self._counts}" if self._counts.done else ""
            return f"making tasks · {counted(self._tasks, 'task')} so far{begun}"
        return f"{self._pace} · {self._counts} · {clock(self._pace.seconds)}"


class NotebookProgress(QuietProgress):
    """One line that is written over, where there is a cell and no terminal."""

    def finished(self, result: "Result") -> None:
        self._counts.add(result)
        if self._pace is not None:
            self._pace.step()
        last = self._counts.done == self._counts.episodes
        if last or time.monotonic() - self._written >= 1.0:
            self._written = time.monotonic()
            sys.stderr.write(f"\r{printable(str(self))}\033[K" + ("\n" if last else ""))
            sys.stderr.flush()

    _written = 0.0


class LiveProgress:
    """For a terminal: a line that moves with the counts below it, and at the end a line that stays."""

    def __init__(self, bar: "Bar") -> None:
        self._bar, self._counts = bar, Counts()
        self._begun = time.monotonic()
        self._task: TaskID = bar.add_task("making tasks", total=None, detail="")
        self._pace = Pace(None)
        self._planned = 0

    def planning(self, tasks: int) -> None:
        self._planned = tasks
        self._bar.update(self._task, detail=self._detail())

    def priced(self, spent: "Usage", prices: "Mapping[str, KnownPrice]") -> None:
        self._counts.price(spent, prices)

    def started(self, episodes: int, done: int) -> None:
        self._counts.begin(episodes, done)
        self._pace = Pace(episodes, self._counts.done)
        told = self._detail()
        self._bar.update(self._task, description="episodes", total=episodes, completed=self._counts.done, detail=told)

    def finished(self, result: "Result") -> None:
        self._counts.add(result)
        self._pace.step()
        self._bar.update(self._task, advance=1, detail=self._detail())

    def _detail(self) -> str:
        played = self._counts.scored or self._counts.failed
        parts = [] if self._counts.episodes else [f"{self._planned} so far"]
        return " · ".join(filter(None, [*parts, str(self._pace), str(self._counts) if played else ""]))

    def end(self) -> None:
        """The line that stays, where anything was played."""
        if self._counts.scored or self._counts.failed:
            line = self._counts.line(time.monotonic() - self._begun)
            stderr().print(line, markup=False, soft_wrap=False)

    def note(self, text: str) -> None:
        say(f"note: {text}")


@contextmanager
def live_progress() -> Iterator["Progress"]:
    """Live on a terminal, quiet elsewhere."""
    if not sys.stderr.isatty():
        quiet = QuietProgress()
        with now_and_then(lambda: str(quiet)):
            yield quiet
        return
    from rich.progress import Progress as Bar
    from rich.text import Text

    class TwoLines(Bar):
        """The counts have a line of their own, which is broken where it is too long and loses nothing."""

        def get_renderables(self) -> "Iterator[RenderableType]":
            yield self.make_tasks_table(self.tasks)
            details = [task.fields["detail"] for task in self.tasks if task.fields["detail"]]
            yield from (Text(detail, no_wrap=False, overflow="fold") for detail in details)

    with TwoLines(*bar_columns(), console=stderr(), transient=True, redirect_stdout=False) as bar:
        live = LiveProgress(bar)
        try:
            yield live
        finally:
            live.end()
