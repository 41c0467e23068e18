"""All results of a run as columns of numbers: one pass over the log, nothing of a trajectory stays in memory."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphwalk.report.declared import Grouping, Measure, ResultRecord, SuiteReport

_UNKNOWN = float("nan")


class Player(NamedTuple):
    """Who is measured: one row of a table."""

    model: str
    setting: str


class Episode(NamedTuple):
    """What tells an episode apart, and the groups it is in."""

    player: Player
    task_id: str
    repeat: int
    cluster: str
    groups: tuple[Any, ...]
    failure: str | None = None
    """Why it ended as it did, where that was no doing of the model's answer."""

    @property
    def key(self) -> tuple[Player, str, int]:
        return self.player, self.task_id, self.repeat


@dataclass(frozen=True)
class Measured:
    """`values[i, j]` is measure j of episode i, NaN where unknown. Episodes are in ascending order of their keys."""

    suite: SuiteReport
    episodes: Sequence[Episode]
    values: NDArray[np.float64]
    baselines: "Measured | None" = None
    remarks: Sequence[str] = ()
    """What the results themselves give to note, sorted."""

    @property
    def players(self) -> list[Player]:
        return sorted({episode.player for episode in self.episodes})

    def rows_of(self, player: Player) -> NDArray[np.int64]:
        return np.array([i for i, episode in enumerate(self.episodes) if episode.player == player], dtype=np.int64)

    def column(self, name: str) -> NDArray[np.float64]:
        number = next(i for i, measure in enumerate(self.suite.measures) if measure.name == name)
        column: NDArray[np.float64] = self.values[:, number]
        return column


def measure_results(results: Iterable[ResultRecord], suite: SuiteReport) -> Measured:
    """Measure every result; of an episode that was run again the last one counts. The order makes no difference."""
    collected, baselines = _Collector(suite), _Collector(suite)
    remarks: set[str | None] = set()
    for result in suite.records(results):
        collected.add(result)
        baselines.add_new(suite.baselines(result))
        remarks.add(suite.remark(result))
    return collected.measured(baselines.measured(), sorted(remark for remark in remarks if remark is not None))


class _Collector:
    def __init__(self, suite: SuiteReport) -> None:
        self._suite = suite
        self._episodes: dict[tuple[Player, str, int], tuple[Episode, array[float]]] = {}
        self._shared: dict[Any, Any] = {}

    def add(self, result: ResultRecord) -> None:
        player = Player(result["model"], result["setting"])
        groups = tuple(_groups(self._suite.groupings, result))
        cluster = result["task"]["graph_digest"]
        share = self._shared.setdefault
        failure = _failure(result)
        episode = Episode(
            share(player, player),
            result["task_id"],
            result["repeat"],
            share(cluster, cluster),
            share(groups, groups),
            share(failure, failure),
        )
        self._episodes[episode.key] = episode, array("d", _values(self._suite.measures, result))

    def add_new(self, results: Iterator[ResultRecord]) -> None:
        """The first result of each episode is enough where all are the same."""
        for result in results:
            if (Player(result["model"], result["setting"]), result["task_id"], result["repeat"]) not in self._episodes:
                self.add(result)

    def measured(self, baselines: Measured | None = None, remarks: Sequence[str] = ()) -> Measured:
        ordered = [self._episodes[key] for key in sorted(self._episodes)]
        values = np.array([row for _, row in ordered], dtype=np.float64)
        return Measured(
            self._suite,
            [episode for episode, _ in ordered],
            values.reshape(len(ordered), len(self._suite.measures)),
            baselines,
            remarks,
        )


def _failure(result: ResultRecord) -> str | None:
    error = result.get("trajectory", {}).get("error")
    return f"{result['exit_status']}: {error.splitlines()[0]}" if error else None


def _groups(groupings: Iterable[Grouping], result: ResultRecord) -> Iterator[Any]:
    for grouping in groupings:
        yield grouping.value(result)


def _values(measures: Iterable[Measure], result: ResultRecord) -> Iterator[float]:
    for measure in measures:
        value = measure.value(result)
        yield _UNKNOWN if value is None else float(value)
