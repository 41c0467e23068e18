"""Counters of a run: finished episodes and their usage, and models without a reply."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from graphwalk.runs.folder.result import EpisodeKey, Result, key_of
from graphwalk.runs.folder.run_folder import RunFolder
from graphwalk.types.chat import Usage
from graphwalk.types.episode import ExitStatus
from graphwalk.types.wire import from_dict

MOST_FAILURES = 3
"""Episodes without a reply after which the circuit breaker opens; each of them has retried its calls."""


@dataclass(frozen=True)
class RunSummary:
    """The state of a run when its process ends."""

    episodes: int
    finished: int
    failed: int
    """Episodes that ended in an infrastructure failure; a resume retries them."""
    usage: Usage
    budget_reached: bool


@dataclass
class EpisodeCounters:
    """Finished episodes of a run, with those of earlier processes, and their usage."""

    status_of: dict[EpisodeKey, ExitStatus] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    replied: set[str] = field(default_factory=set)
    """Models that have replied, also in episodes that failed afterwards."""

    def count(self, key: EpisodeKey, status: ExitStatus, usage: Usage) -> None:
        self.status_of[key] = status
        self.usage += usage

    def summary(self, episodes: int, budget_reached: bool) -> RunSummary:
        failed = sum(status.infrastructure for status in self.status_of.values())
        return RunSummary(episodes, len(self.status_of) - failed, failed, self.usage, budget_reached)


def earlier_results(folder: RunFolder) -> tuple[EpisodeCounters, dict[EpisodeKey, int]]:
    """Count the finished episodes of earlier processes, without failures; also return the line of each episode."""
    counters, lines = EpisodeCounters(), {}
    for number, record in enumerate(folder.records(), 1):
        key, status = key_of(record), ExitStatus(record["exit_status"])
        lines[key] = number
        if record["trajectory"].get("turns") or not status.infrastructure:
            counters.replied.add(key.model)
        if not status.infrastructure:
            counters.count(key, status, from_dict(Usage, record["usage"]))
    return counters, lines


class CircuitBreaker:
    """A circuit breaker: skip a model after `MOST_FAILURES` episodes without a reply, unless it has ever replied."""

    def __init__(self, note: Callable[[str], object], replied: set[str]) -> None:
        self._note = note
        self._failures: Counter[str] = Counter()
        self._replied = replied

    def count(self, result: Result) -> None:
        model, trajectory = result.key.model, result.trajectory
        if trajectory.turns or not trajectory.exit_status.infrastructure:
            self._replied.add(model)
        if model in self._replied or trajectory.exit_status is not ExitStatus.MODEL_ERROR:
            return
        self._failures[model] += 1
        if self._failures[model] == MOST_FAILURES:
            self._note(f"stopped calling {model}: {MOST_FAILURES} episodes without a reply; {trajectory.error}")

    def skips(self, model: str) -> bool:
        return self._failures[model] >= MOST_FAILURES and model not in self._replied
