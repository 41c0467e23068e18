"""Progress of a run: the interface that runs call, a log, and displays for terminal and notebook."""

import logging
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from graphwalk.console import counted, say
from graphwalk.models.prices import KnownPrice
from graphwalk.progress import ProgressBar, clock, progress_bar
from graphwalk.runs.result import Result
from graphwalk.sanitise import printable
from graphwalk.types.chat import Usage

_ENOUGH = 5
"""Episodes after which the total cost is extrapolated."""


class Progress:
    """An observer of a run, called in its event loop; must not block. This class ignores all calls."""

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

    def note(self, text: str) -> None:
        """Take a message for the user."""


class ProgressWrapper(Progress):
    """A progress that forwards every call to another one."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def planning(self, tasks: int) -> None:
        self._progress.planning(tasks)

    def priced(self, spent: Usage, prices: Mapping[str, KnownPrice]) -> None:
        self._progress.priced(spent, prices)

    def started(self, episodes: int, done: int) -> None:
        self._progress.started(episodes, done)

    def finished(self, result: Result) -> None:
        self._progress.finished(result)

    def note(self, text: str) -> None:
        self._progress.note(text)


class LoggedProgress(ProgressWrapper):
    """A progress that also writes to the run log file."""

    def __init__(self, progress: Progress, logger: logging.Logger) -> None:
        super().__init__(progress)
        self._logger = logger

    def started(self, episodes: int, done: int) -> None:
        self._logger.info("%d episodes planned, %d of them finished earlier", episodes, done)
        super().started(episodes, done)

    def finished(self, result: Result) -> None:
        level = logging.WARNING if result.exit_status.infrastructure else logging.DEBUG
        outcome = result.trajectory.error or f"correct: {bool(result.score and result.score['correct'])}"
        self._logger.log(level, "%s: %s, %s", " ".join(map(str, result.key)), result.exit_status, outcome)
        super().finished(result)

    def note(self, text: str) -> None:
        self._logger.warning("%s", text)
        super().note(text)


class RunProgress(Progress):
    """Progress counters of a run, shown in a bar: episodes, correct answers, calls, tokens, cost."""

    def __init__(self, bar: ProgressBar) -> None:
        self.bar = bar
        self.tasks = 0
        self.episodes = 0
        """Episodes of the complete plan; 0 during planning."""
        self.done = self.scored = self.correct = self.failed = self.calls = 0
        self.usage = Usage()
        """Usage of all finished episodes, with those of earlier processes."""
        self._unpriced = False
        self._source = "its provider"

    def planning(self, tasks: int) -> None:
        self.tasks = tasks
        self._show()

    def priced(self, spent: Usage, prices: Mapping[str, KnownPrice]) -> None:
        self.usage = spent
        self._unpriced = bool(spent.total_tokens) and spent.cost is None
        if prices:
            self._source = " and ".join(sorted({price.source for price in prices.values()}))
        for model, price in prices.items():
            say(f"price of {model}: {price}")

    def started(self, episodes: int, done: int) -> None:
        self.episodes = episodes
        self.done += done
        if done == episodes:
            say(f"nothing left to do: {'the episode has' if done == 1 else f'all {done} episodes have'} a score")
        elif not self.bar.live:
            say(counted(episodes, "episode") + (f", {done} of them finished earlier" if done else ""))
        self.bar.begin("episodes", episodes, self.done)
        self._show()

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
        self._show()

    def note(self, text: str) -> None:
        say(f"note: {text}")

    def counters(self) -> str:
        """Return the counters of this process, and the tokens and the cost of the whole run."""
        parts = [f"{self.correct}/{self.scored} correct", counted(self.calls, "tool call")]
        if self.usage.total_tokens:
            about = "about " if self.usage.estimated else ""
            parts += [f"{about}{self.usage.total_tokens:,} tokens", self._cost()]
        if self.failed:
            parts.append(f"{self.failed} failed")
        return " · ".join(parts)

    def _cost(self) -> str:
        if self.usage.cost is None:
            return "cost unknown"
        cost = f"${self.usage.cost:.4f}"
        if self._unpriced:
            return f"{cost} and unknown cost"
        if _ENOUGH <= self.done < self.episodes:
            cost += f" of about ${self.usage.cost / self.done * self.episodes:.2f}"
        return f"{cost} by {self._source}"

    def _show(self) -> None:
        tasks = "" if self.episodes else f"{counted(self.tasks, 'task')} so far"
        counters = self.counters() if self.scored or self.failed else ""
        self.bar.detail = " · ".join(filter(None, [tasks, counters]))

    def show_last(self) -> None:
        """Print the final line."""
        if self.scored or self.failed:
            say(f"{self.bar.numbers()} · {clock(self.bar.seconds)}")


class NotebookProgress(RunProgress):
    """A progress on one line of stderr that is overwritten, for notebooks."""

    def __init__(self) -> None:
        super().__init__(ProgressBar("making tasks"))
        self.bar.live = True  # no other line
        self._written = 0.0
        self._width = 0

    def finished(self, result: Result) -> None:
        super().finished(result)
        last = self.done == self.episodes
        if last or time.monotonic() - self._written >= 1.0:
            self._written = time.monotonic()
            line = printable(str(self.bar))
            # Spaces cover a longer line: not every notebook understands the escape sequence for it.
            sys.stderr.write(f"\r{line.ljust(self._width)}" + ("\n" if last else ""))
            sys.stderr.flush()
            self._width = len(line)


@contextmanager
def run_progress() -> Iterator[Progress]:
    """Show the progress of a run while the block runs."""
    progress = None
    try:
        with progress_bar("making tasks") as bar:
            progress = RunProgress(bar)
            yield progress
    finally:
        if progress is not None:
            progress.show_last()
