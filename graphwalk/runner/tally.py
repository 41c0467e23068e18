"""Counting the episodes of a run that are finished, those of earlier processes too."""

from dataclasses import dataclass, field

from graphwalk.runlog.result import EpisodeKey, key_of
from graphwalk.runlog.run_folder import RunFolder
from graphwalk.runner.sitting import is_played_by_itself
from graphwalk.types.chat import Usage
from graphwalk.types.episode import ExitStatus
from graphwalk.types.wire import from_dict


@dataclass(frozen=True)
class RunSummary:
    """How a run stands when its process ends."""

    episodes: int
    finished: int
    failed: int
    """Episodes that ended in an infrastructure failure; a resume tries them again."""
    usage: Usage
    budget_reached: bool


@dataclass
class Tally:
    """Finished episodes and what they cost."""

    status_of: dict[EpisodeKey, ExitStatus] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)

    @property
    def due(self) -> int:
        """Those that the run is not finished without."""
        return sum(map(is_played_by_itself, self.status_of))

    def count(self, key: EpisodeKey, status: ExitStatus, usage: Usage) -> None:
        self.status_of[key] = status
        self.usage += usage

    def summary(self, episodes: int, budget_reached: bool) -> RunSummary:
        failed = sum(status.infrastructure for key, status in self.status_of.items() if is_played_by_itself(key))
        return RunSummary(episodes, self.due - failed, failed, self.usage, budget_reached)


def earlier_results(folder: RunFolder) -> tuple[Tally, dict[EpisodeKey, int]]:
    """What earlier processes finished, but for failures, which are tried again; and all keys with their lines."""
    tally, lines = Tally(), {}
    for number, record in enumerate(folder.records(), 1):
        key, status = key_of(record), ExitStatus(record["exit_status"])
        lines[key] = number
        if not status.infrastructure:
            tally.count(key, status, from_dict(Usage, record["usage"]))
    return tally, lines
