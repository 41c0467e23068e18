"""Results of a run as columns of numbers, read in one pass without keeping trajectories."""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from sys import intern
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphwalk.errors import ConfigError
from graphwalk.reports.suite_report import ResultRecord, SuiteReport, in_order
from graphwalk.sanitise import one_line
from graphwalk.types.episode import setting_of


class Player(NamedTuple):
    """A model in a setting, or in a variant of one: a row of a table."""

    model: str
    setting: str


def player_order(player: Player) -> tuple[str, list[str | int]]:
    """Return the sort key of a player."""
    return player.model, in_order(player.setting)


def chosen(players: Sequence[Player], models: Sequence[str], settings: Sequence[str]) -> list[Player]:
    """Return the players with these models and settings (default: all). Raise ConfigError for an unknown name."""
    played = {player.setting for player in players}
    choices = {"model": {player.model for player in players}, "setting": played | set(map(setting_of, played))}
    for what, names in (("model", models), ("setting", settings)):
        if strangers := [name for name in names if name not in choices[what]]:
            known_players = ", ".join(sorted(f"{player.model} {player.setting}" for player in players)) or "none yet"
            raise ConfigError(f"no {what} {strangers[0]!r} in this run", hint=f"one of: {known_players}")
    return [
        player
        for player in players
        if (not models or player.model in models)
        and (not settings or player.setting in settings or setting_of(player.setting) in settings)
    ]


class Case(NamedTuple):
    """An episode in statistics: its player, task, graph (cluster) and groups."""

    player: Player
    task_id: str
    repeat: int
    cluster: str
    groups: tuple[Any, ...]
    failure: str | None = None
    """The infrastructure error that ended the episode, or None."""
    twin_of: str | None = None
    """The same task on the original graph, if this one is on its anonymised copy."""
    question: str = ""
    """The task, or what it is a part of: the independent unit if all tasks are on one graph."""

    def groups_in(self, grouping: int) -> tuple[Any, ...]:
        """Return its groups in a grouping: none, one or several."""
        group = self.groups[grouping]
        return group if isinstance(group, tuple) else () if group is None else (group,)


@dataclass(frozen=True)
class Observations:
    """`values[i, j]` is measure j of case i, NaN where unknown. Cases are in ascending order of their keys."""

    suite: SuiteReport
    cases: Sequence[Case]
    values: NDArray[np.float64]
    baselines: "Observations | None" = None
    remarks: Sequence[str] = ()
    """Notes required by results, sorted."""

    @property
    def players(self) -> list[Player]:
        return sorted({case.player for case in self.cases}, key=player_order)

    def part(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.float64], list[str], list[str], list[str]]:
        """Return values, graphs, tasks and questions of some episodes, as arguments of `outcomes_of`."""
        cases = [self.cases[i] for i in numbers]
        columns = ([getattr(case, name) for case in cases] for name in ("cluster", "task_id", "question"))
        graphs, tasks, questions = columns
        return self.values[numbers], graphs, tasks, questions

    def members(self, grouping: int) -> dict[tuple[Any, Player], NDArray[np.int64]]:
        """Return the indexes of episodes by group and player, except episodes without a group."""
        indexes: dict[tuple[Any, Player], list[int]] = {}
        for i, case in enumerate(self.cases):
            for group in case.groups_in(grouping):
                indexes.setdefault((group, case.player), []).append(i)
        return {key: np.array(numbers) for key, numbers in indexes.items()}

    def rows_of(self, player: Player) -> NDArray[np.int64]:
        return np.array([i for i, case in enumerate(self.cases) if case.player == player], dtype=np.int64)

    def column(self, name: str) -> NDArray[np.float64]:
        names = [measure.name for measure in self.suite.measures]
        return np.asarray(self.values[:, names.index(name)])


_Cases: TypeAlias = "dict[tuple[Player, str, int], tuple[Case, array[float]]]"


def observe(results: Iterable[ResultRecord], suite: SuiteReport) -> Observations:
    """Return all measures of every result, in any order. Of a repeated episode, the last result counts."""
    cases: _Cases = {}
    baselines: _Cases = {}
    tasks: set[str] = set()
    remarks: set[str | None] = set()
    for result in suite.records(results):
        _add(cases, result, suite)
        if result["task_id"] not in tasks:
            tasks.add(result["task_id"])
            for baseline in suite.baselines(result):
                _add(baselines, baseline, suite)
        remarks.add(suite.remark(result))
        if result["usage"].get("estimated"):
            remarks.add("Tokens and cost are partly estimated, since a provider does not report usage.")
    computed = _observations(baselines, suite)
    return replace(_observations(cases, suite), baselines=computed, remarks=sorted(filter(None, remarks)))


def _add(cases: _Cases, result: ResultRecord, suite: SuiteReport) -> None:
    error = result.get("trajectory", {}).get("error")
    cluster = suite.cluster(result["task_id"], result["task"])
    case = Case(
        Player(intern(result["model"]), intern(result["setting"])),
        result["task_id"],
        result["repeat"],
        intern(cluster.graph),
        tuple(grouping.value(result) for grouping in suite.groupings),
        f"{result['exit_status']}: {one_line(error.splitlines()[0])}" if error else None,
        result["task"].get("twin_of"),
        intern(cluster.question),
    )
    values = (measure.value(result) for measure in suite.measures)
    cases[case[:3]] = case, array("d", (np.nan if value is None else float(value) for value in values))


def _observations(cases: _Cases, suite: SuiteReport) -> Observations:
    ordered = [cases[key] for key in sorted(cases)]
    values = np.array([row for _, row in ordered], dtype=np.float64)
    return Observations(suite, [case for case, _ in ordered], values.reshape(len(ordered), len(suite.measures)))
