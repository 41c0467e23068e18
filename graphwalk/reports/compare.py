"""Compare players on identical tasks.

In a report, across runs (`graphwalk compare`), and on a graph against its anonymised copy (the memorisation test).
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphwalk.evaluation.statistics import Comparison, Outcomes, compare, holm, outcomes_of
from graphwalk.reports.observations import Observations, Player
from graphwalk.reports.suite_report import PERCENT, SIDES, Grouping
from graphwalk.reports.text_table import without_range

PAIRS_NOTE = (
    "Pairs: first − second on identical tasks, repeats averaged; percentages differ in percentage points. p: sign-flip"
    " test over graphs (mid-p). Holm p: adjusted over all pairs of its table. McNemar p: ignores shared graphs."
)
_DIGITS = 6
_UNITS: Mapping[str, tuple[float, float]] = {"percent": (PERCENT, PERCENT), "share": (1, 1)}
"""Unit in a table, and largest possible difference, by kind of measure."""

ShowCommands = Callable[[str, Sequence[Player]], Sequence[str]]
"""Returns the commands that show the episodes of a task and players."""


def player_outcomes(observed: Observations, numbers: NDArray[np.int64]) -> Outcomes:
    """Return the outcomes by task of some episodes of a player, in the compared measures."""
    names = [measure.name for measure in observed.suite.measures]
    values, graphs, tasks = observed.part(numbers)
    return outcomes_of(values[:, [names.index(name) for name in observed.suite.compared]], graphs, tasks)


def comparisons_of(observed: Observations, *, seed: int, grouping: int | None = None) -> list[dict[str, Any]]:
    """Compare all pairs of players that share tasks, overall or within each group of a grouping.

    A pair has `first_model`, `first_setting`, the same of the second, and `measures` (those that the suite compares).
    Each has `difference` (first − second, repeats averaged per task; in percentage points or in the unit of the
    measure) with `interval`, or `no_interval` with the reason; `tasks`, `graphs`; `p_value` (sign flips over graphs,
    mid-p), `p_holm` (the same, adjusted over all pairs and groups), `p_exact` (sign flips with ties in full), `p_t`;
    tasks `first_better`, `second_better`, `equal`; and `mcnemar_p`, with what it ignores in `mcnemar_ignores`.
    """
    if grouping is None:
        found = list(_pairs(observed, {player: observed.rows_of(player) for player in observed.players}, seed))
    else:
        declared, members = observed.suite.groupings[grouping], observed.members(grouping)
        found = []
        for group in sorted({group for group, _ in members}, key=declared.sort_key):
            numbers = {player: members[group, player] for player in sorted(p for of, p in members if of == group)}
            found += [{**pair, declared.name: group} for pair in _pairs(observed, numbers, seed)]
    for name in observed.suite.compared:
        tested = [pair["measures"][name] for pair in found if pair["measures"][name]["p_value"] is not None]
        for measure, p in zip(tested, holm([measure["p_value"] for measure in tested]), strict=True):
            measure["p_holm"] = p
    return found


def _pairs(observed: Observations, numbers: Mapping[Player, NDArray[np.int64]], seed: int) -> Iterator[dict[str, Any]]:
    outcomes = {player: player_outcomes(observed, rows) for player, rows in numbers.items()}
    kinds = {measure.name: measure.kind for measure in observed.suite.measures}
    for players in combinations(outcomes, 2):
        compared = compare(*(outcomes[player] for player in players), seed=seed)
        if compared[0].difference.n:
            sides = zip(SIDES, players, strict=True)
            yield {
                **{f"{side}_{name}": value for side, player in sides for name, value in player._asdict().items()},
                "measures": {
                    name: _measure(one, *_UNITS.get(kinds[name], (1, math.inf)))
                    for name, one in zip(observed.suite.compared, compared, strict=True)
                },
            }


def reasons_of(pairs: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the reasons for missing intervals."""
    return {measure["no_interval"] for pair in pairs for measure in pair["measures"].values()} - {None}


def _measure(one: Comparison, scale: float, most: float) -> dict[str, Any]:
    """Return the fields of a measure. With a single graph there is no test; if no task differs, p is 1."""
    flips, same = one.sign_flips, one.first_better == one.second_better == 0
    several = flips.clusters > 1
    return {
        **difference_of(one, scale, most),
        "no_interval": one.difference.reason or None,
        "tasks": one.difference.n,
        "graphs": one.difference.clusters,
        "p_value": (1.0 if same else flips.mid_p) if several else None,
        "p_holm": None,
        "p_exact": flips.p_value if several else None,
        "p_t": one.t_p_value,
        "first_better": one.first_better,
        "second_better": one.second_better,
        "equal": one.equal,
        "mcnemar_p": one.mcnemar_p_value,
        "mcnemar_ignores": "ignores that tasks share graphs",
    }


def difference_of(one: Comparison, scale: float, most: float) -> dict[str, Any]:
    """Return the difference and its interval in the unit of a table; `most` is the largest possible difference."""
    difference = one.difference.scaled(scale)
    ends = [end for end in (difference.low, difference.high) if end is not None]
    return {
        "difference": None if difference.value is None else round(difference.value, _DIGITS),
        "interval": [round(max(-most, min(most, end)), _DIGITS) for end in ends] or None,
    }


@dataclass(frozen=True)
class RunComparison:
    """Players of one or more runs: `overall` and `groups` as `comparisons_of` returns them.

    `changed`: a record for each task and pair in which one player was better, with the groups of the task, the value of
    each and the `commands` that show the episodes.
    """

    suite: str
    measures: tuple[str, ...]
    groupings: tuple[Grouping, ...]
    overall: list[dict[str, Any]]
    groups: dict[str, list[dict[str, Any]]]
    changed: list[dict[str, Any]]
    notes: tuple[str, ...]


def compare_players(
    observed: Observations, show: ShowCommands, *, seed: int, notes: Sequence[str] = ()
) -> RunComparison:
    """Compare all players that share tasks: overall, by group, and task by task."""
    suite = observed.suite
    groups = {
        grouping.name: comparisons_of(observed, seed=seed, grouping=number)
        for number, grouping in enumerate(suite.groupings)
        if grouping.shown and len({case.groups[number] for case in observed.cases} - {None}) > 1
    }
    overall = comparisons_of(observed, seed=seed)
    return RunComparison(
        suite.suite,
        suite.compared,
        suite.groupings,
        overall,
        {name: pairs for name, pairs in groups.items() if pairs},
        list(_changed(observed, overall, show)),
        (
            *notes,
            "Intervals: 95 %, cluster-robust; the graph is the cluster.",
            PAIRS_NOTE,
            *without_range(reasons_of(overall)),
        ),
    )


def _changed(
    observed: Observations, pairs: Sequence[Mapping[str, Any]], show: ShowCommands
) -> Iterator[dict[str, Any]]:
    groups_of = {
        case.task_id: {g.name: group for g, group in zip(observed.suite.groupings, case.groups, strict=True)}
        for case in observed.cases
    }
    reached: dict[Player, dict[str, float]] = {}
    for player in observed.players:
        outcomes = player_outcomes(observed, observed.rows_of(player))
        values = outcomes.values[:, 0].tolist()
        reached[player] = {str(task): value for (_, task), value in zip(outcomes.keys, values, strict=True)}
    for pair in pairs:
        players = [Player(pair[f"{side}_model"], pair[f"{side}_setting"]) for side in SIDES]
        first, second = (reached[player] for player in players)
        for task in sorted(first.keys() & second.keys()):
            if first[task] != second[task] and not math.isnan(first[task] + second[task]):
                yield {
                    "task_id": task,
                    **{name: group for name, group in groups_of[task].items() if group is not None},
                    **{name: pair[name] for name in pair if name.startswith(("first_", "second_"))},
                    "better": "first" if first[task] > second[task] else "second",
                    "first": round(first[task], _DIGITS),
                    "second": round(second[task], _DIGITS),
                    "commands": list(show(task, players)),
                }
