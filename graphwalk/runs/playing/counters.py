"""Counters of a run: finished episodes and their usage, and models without a reply."""

from collections import Counter
from dataclasses import dataclass, field

from graphwalk.errors import RunLogError
from graphwalk.runs.episodes.plan import Plan
from graphwalk.runs.folder.result import EpisodeKey, Result, key_of
from graphwalk.runs.folder.run_folder import RunFolder
from graphwalk.types.chat import Usage
from graphwalk.types.episode import ExitStatus
from graphwalk.types.wire import from_dict

MOST_FAILURES = 3
"""Episodes without a reply after which a model is skipped; each of them has retried its calls."""


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
    """Finished episodes of a run, with those of earlier processes, their usage, and models that do not reply."""

    status_of: dict[EpisodeKey, ExitStatus] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    replied: set[str] = field(default_factory=set)
    """Models that have replied, also in episodes that failed afterwards."""
    failures: Counter[str] = field(default_factory=Counter)
    """Model → episodes of this process without a reply."""

    @classmethod
    def of(cls, folder: RunFolder, plan: Plan) -> "EpisodeCounters":
        """Count the finished episodes of earlier processes, without failures. RunLogError for one of another plan."""
        counters, keys = cls(), {planned.key for planned in plan.episodes}
        for number, record in enumerate(folder.records(), 1):
            key, status = key_of(record), ExitStatus(record["exit_status"])
            if key not in keys:
                raise RunLogError(f"{folder.results_path}:{number}: the episode is not part of this run: {key}")
            if record["trajectory"].get("turns") or not status.infrastructure:
                counters.replied.add(key.model)
            if not status.infrastructure:
                counters.status_of[key] = status
                counters.usage += from_dict(Usage, record["usage"])
        return counters

    def count(self, result: Result) -> bool:
        """Count an episode. Return True if it is the last failure after which its model is skipped."""
        model, trajectory = result.key.model, result.trajectory
        self.status_of[result.key] = result.exit_status
        self.usage += result.usage
        if trajectory.turns or not trajectory.exit_status.infrastructure:
            self.replied.add(model)
        if model in self.replied or trajectory.exit_status is not ExitStatus.MODEL_ERROR:
            return False
        self.failures[model] += 1
        return self.failures[model] == MOST_FAILURES

    def skips(self, model: str) -> bool:
        """Return True for a model that has never replied (a circuit breaker)."""
        return self.failures[model] >= MOST_FAILURES and model not in self.replied

    def summary(self, episodes: int, budget_reached: bool) -> RunSummary:
        failed = sum(status.infrastructure for status in self.status_of.values())
        return RunSummary(episodes, len(self.status_of) - failed, failed, self.usage, budget_reached)
