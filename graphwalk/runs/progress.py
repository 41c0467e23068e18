"""Progress of a run: the interface that runs call, and its display on stderr."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from graphwalk.errors import counted
from graphwalk.models.chat import Usage
from graphwalk.models.prices import KnownPrice
from graphwalk.runs.record import Result
from graphwalk.terminal import ProgressBar, clock, print_message, progress_bar

_ENOUGH = 5
"""Episodes after which the total cost is extrapolated."""


@dataclass
class Progress:
    """An observer of a run, called in its event loop; must not block."""

    on_result: Callable[[Result], None] | None = None
    """Gets each finished episode."""

    def planning(self, tasks: int) -> None:
        """Take the number of tasks made so far."""

    def priced(self, spent: Usage, prices: Mapping[str, KnownPrice]) -> None:
        """Take the usage of earlier processes, and the known prices by model. Called before `started`."""

    def started(self, episodes: int, done: int) -> None:
        """Take the size of the complete plan and the number of episodes that earlier processes finished.

        Some episodes of a new run may be finished by then.
        """

    def finished(self, result: Result) -> None:
        """Take an episode that is on disk."""
        if self.on_result is not None:
            self.on_result(result)

    def note(self, text: str) -> None:
        """Take a message for the user."""


@dataclass
class RunProgress(Progress):
    """Progress counters of a run, shown in a bar: episodes, correct answers, calls, tokens, cost."""

    bar: ProgressBar = field(kw_only=True)
    tasks: int = 0
    episodes: int = 0
    """Episodes of the complete plan; 0 during planning."""
    done: int = 0
    scored: int = 0
    correct: int = 0
    failed: int = 0
    calls: int = 0
    resumed: bool = False
    usage: Usage = Usage()
    """Usage of all finished episodes, with those of earlier processes."""
    _unpriced: bool = False
    _source: str = "its provider"

    def planning(self, tasks: int) -> None:
        self.tasks = tasks

    def priced(self, spent: Usage, prices: Mapping[str, KnownPrice]) -> None:
        self.usage = spent
        self._unpriced = bool(spent.total_tokens) and spent.cost is None
        if prices:
            self._source = " and ".join(sorted({price.source for price in prices.values()}))
        for model, price in prices.items():
            print_message(f"price of {model}: {price}")

    def started(self, episodes: int, done: int) -> None:
        self.episodes = episodes
        self.done += done
        self.resumed = done > 0
        if done == episodes:
            they_have = "the episode has" if done == 1 else f"all {done} episodes have"
            print_message(f"nothing left to do: {they_have} a score")
        elif not self.bar.live:
            earlier = f", {done} of them finished earlier" if done else ""
            print_message(counted(episodes, "episode") + earlier)
        self.bar.begin("episodes", episodes, self.done)

    def finished(self, result: Result) -> None:
        self.done += 1
        self.calls += len(result.trajectory.results)
        self.usage += result.usage
        self._unpriced |= bool(result.usage.total_tokens) and result.usage.cost is None
        if result.score is None:
            self.failed += 1
        else:
            self.scored += 1
            self.correct += bool(result.score["correct"])
        if self.episodes:
            self.bar()
        super().finished(result)

    def note(self, text: str) -> None:
        print_message(f"note: {text}")

    def counters(self) -> str:
        """Return the counters of this process, and the tokens and the cost of the whole run."""
        since = " since the resume" if self.resumed else ""
        parts = [f"{self.correct}/{self.scored} correct{since}", counted(self.calls, "tool call")]
        cost = self.usage.cost
        if self.usage.total_tokens:
            about = "about " if self.usage.estimated else ""
            parts.append(f"{about}{self.usage.total_tokens:,} tokens")
            if cost is None:
                parts.append("cost unknown")
            elif self._unpriced:
                parts.append(f"${cost:.4f} and unknown cost")
            elif _ENOUGH <= self.done < self.episodes:
                total = cost / self.done * self.episodes
                parts.append(f"${cost:.4f} of about ${total:.2f} by {self._source}")
            else:
                parts.append(f"${cost:.4f} by {self._source}")
        if self.failed:
            parts.append(f"{self.failed} failed")
        return " · ".join(parts)

    def detail(self) -> str:
        """Return what the bar ends with: the number of tasks so far, then the counters."""
        parts = []
        if not self.episodes:
            parts.append(f"{counted(self.tasks, 'task')} so far")
        if self.scored or self.failed:
            parts.append(self.counters())
        return " · ".join(parts)


@contextmanager
def run_progress(on_result: Callable[[Result], None] | None = None) -> Iterator[Progress]:
    """Show the progress of a run while the block runs."""
    with progress_bar("making tasks") as bar:
        progress = RunProgress(on_result, bar=bar)
        bar.detail = progress.detail
        try:
            yield progress
        finally:
            last = f"{bar.numbers()} · {clock(bar.seconds)}" if progress.scored or progress.failed else ""
    if last:
        print_message(last)
