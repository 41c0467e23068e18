"""Compare players on identical tasks: of one run, across runs, and on a graph against its anonymised copy."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations, permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphwalk.evaluation.statistics import (
    Comparison,
    Outcomes,
    Unit,
    compare,
    holm,
    least_p_value,
    outcomes_of,
    paired,
)
from graphwalk.reports.observations import Observations, Player
from graphwalk.reports.player_rows import row_of
from graphwalk.reports.suite_report import DIGITS, PERCENT, SIDES, Grouping, ReportRow
from graphwalk.reports.tables import comparison_tables
from graphwalk.reports.text_table import OVER_QUESTIONS, UNKNOWN, TextTable
from graphwalk.reports.verdict import verdict_on
from graphwalk.types.episode import SCHEMA_VERSION

_INTERVALS: Mapping[Unit, str] = {
    "graph": "The graph is the cluster, since tasks on one graph are dependent.",
    "question": f"Where all tasks are on one graph, intervals are {OVER_QUESTIONS}; they do not hold for other graphs.",
}
_TESTS: Mapping[Unit, str] = {
    "graph": "Holm p: sign-flip test over graphs (mid-p), adjusted over all pairs of its table.",
    "question": f"Holm p: sign-flip test {OVER_QUESTIONS} (mid-p), adjusted over all pairs of its table.",
}
_UNITS: Mapping[str, tuple[float, float]] = {"percent": (PERCENT, PERCENT), "share": (1, 1)}
"""Unit in a table, and largest possible difference, by kind of measure."""


def player_outcomes(observed: Observations, numbers: NDArray[np.int64]) -> Outcomes:
    """Return the outcomes by task of some episodes of a player, in the compared measures."""
    names = [measure.name for measure in observed.suite.measures]
    values, *units = observed.part(numbers)
    return outcomes_of(values[:, [names.index(name) for name in observed.suite.compared]], *units)


def comparisons_of(observed: Observations, *, seed: int, grouping: int | None = None) -> list[dict[str, Any]]:
    """Compare the pairs of players that share tasks, overall or within each group of a grouping.

    Then follow the pairs of models with what they gain by walking (interactions), whose settings are
    "tools − no_tools". `contrast`: both settings of a gain.

    A pair has `first_model`, `first_setting`, the same of the second, and `measures` (those that the suite compares).
    Each has `difference` (first − second, repeats averaged per task; in percentage points or in the unit of the
    measure) with `interval`, or `no_interval` with the reason; `tasks`, `graphs`, `unit` (graph or question: the
    independent unit); `p_value` (sign flips over these units, mid-p), `p_holm` (the same, adjusted over all pairs and
    groups), `p_least` (the smallest p that this number of units allows); and tasks `first_better`, `second_better`,
    `equal`.
    """
    if grouping is None:
        pairs = list(_pairs(observed, {player: observed.rows_of(player) for player in observed.players}, seed))
    else:
        declared, members = observed.suite.groupings[grouping], observed.members(grouping)
        pairs = []
        for group in sorted({group for group, _ in members}, key=declared.sort_key):
            numbers = {player: members[group, player] for player in sorted(p for of, p in members if of == group)}
            pairs += [{**pair, declared.name: group} for pair in _pairs(observed, numbers, seed)]
    for name in observed.suite.compared:
        tested = [pair["measures"][name] for pair in pairs if pair["measures"][name]["p_value"] is not None]
        for measure, p in zip(tested, holm([measure["p_value"] for measure in tested]), strict=True):
            measure["p_holm"] = p
    return pairs


def _pairs(observed: Observations, numbers: Mapping[Player, NDArray[np.int64]], seed: int) -> Iterator[dict[str, Any]]:
    outcomes = {player: player_outcomes(observed, rows) for player, rows in numbers.items()}
    kinds = {measure.name: measure.kind for measure in observed.suite.measures}
    for players, contrast, compared in _compared(outcomes, seed):
        if compared[0].difference.n:
            sides = zip(SIDES, players, strict=True)
            yield {
                **{f"{side}_{name}": value for side, player in sides for name, value in player._asdict().items()},
                **({"contrast": contrast} if contrast else {}),
                "measures": {
                    name: _measure(one, *_UNITS.get(kinds[name], (1, math.inf)), is_gain=players[0] not in outcomes)
                    for name, one in zip(observed.suite.compared, compared, strict=True)
                },
            }


def _compared(outcomes: Mapping[Player, Outcomes], seed: int) -> Iterator[tuple[Any, list[str], list[Comparison]]]:
    """Yield pairs of players, and of gains over the same setting in the same variant, with the settings of a gain."""
    gains = {frozenset(pair): [player.setting for player in pair] for pair in gains_by_walking(outcomes)}
    for players in combinations(outcomes, 2):
        compared = compare(*(outcomes[player] for player in players), seed=seed)
        yield players, gains.get(frozenset(players), []), compared
    for pairs in combinations(gains_by_walking(outcomes), 2):
        contrast, other = ([player.setting for player in pair] for pair in pairs)
        if contrast == other:
            sides = (paired(*(outcomes[player] for player in pair)) for pair in pairs)
            named = [Player(pair[0].model, " − ".join(contrast)) for pair in pairs]
            yield named, contrast, compare(*sides, seed=seed)


def gains_by_walking(players: Iterable[Player]) -> Iterator[tuple[Player, Player]]:
    """Yield each player that walks, with the same model in the same variant of another setting."""
    for pair in permutations(players, 2):
        (walking, _, variant), (other, _, other_variant) = (player.setting.partition(":") for player in pair)
        if walking == "tools" != other and (pair[0].model, variant) == (pair[1].model, other_variant):
            yield pair


def method_notes(rows: Iterable[ReportRow], pairs: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield notes on the methods behind intervals and tests, and on the reasons for which intervals are missing."""
    rows, measures = list(rows), [measure for pair in pairs for measure in pair["measures"].values()]
    tested = {measure["unit"] for measure in measures}
    units = tested.union(row["unit"] for row in rows if row["intervals"])
    reasons = {measure["no_interval"] for measure in measures if measure["no_interval"]}
    reasons = reasons.union(*(row["no_interval"].values() for row in rows))
    if units:
        yield (
            "Intervals: 95 %, by t with a cluster-robust standard error; of shares with one more graph that is half"
            " right."
        )
        yield from (note for unit, note in _INTERVALS.items() if unit in units)
    if reasons:
        causes = ", or ".join(sorted(reasons))
        yield f"{UNKNOWN} instead of an interval: {causes}; the variance between them is unknown."
    if any("k" in row for row in rows):
        yield "pass@k: share of tasks with at least one correct try in k; pass^k: with k correct tries."
    if tested:
        yield ("Pairs: first − second on identical tasks, repeats averaged; percentages differ in percentage points.")
        yield from (note for unit, note in _TESTS.items() if unit in tested)


def _measure(one: Comparison, scale: float, most: float, *, is_gain: bool) -> dict[str, Any]:
    """Return the fields of a measure. `is_gain`: two gains are compared, which differ by twice as much."""
    over = one.difference
    return {
        **difference_of(one, scale, (1 + is_gain) * most),
        "no_interval": over.reason or None,
        "tasks": over.n,
        "graphs": over.graphs,
        "unit": over.unit,
        "p_value": one.p_value,
        "p_holm": None,
        "p_least": None if one.p_value is None else least_p_value(over.clusters),
        "first_better": one.first_better,
        "second_better": one.second_better,
        "equal": one.equal,
    }


def difference_of(one: Comparison, scale: float, most: float) -> dict[str, Any]:
    """Return the difference and its interval in the unit of a table; `most` is the largest possible difference."""
    difference = one.difference.scaled(scale)
    ends = [end for end in (difference.low, difference.high) if end is not None]
    return {
        "difference": None if difference.value is None else round(difference.value, DIGITS),
        "interval": [round(max(-most, min(most, end)), DIGITS) for end in ends] or None,
    }


@dataclass(frozen=True)
class RunComparison:
    """Players of one or more runs: `overall` and `groups` as `comparisons_of` returns them.

    `verdict` sums them up in words. `changed`: a record for each task and pair in which one player was better, with
    the groups of the task and the value of each.
    """

    suite: str
    measures: tuple[str, ...]
    groupings: tuple[Grouping, ...]
    overall: list[dict[str, Any]]
    groups: dict[str, list[dict[str, Any]]]
    changed: list[dict[str, Any]]
    notes: tuple[str, ...]
    verdict: tuple[str, ...] = ()
    incomplete: str | None = None
    is_scored: bool = True

    @cached_property
    def tables(self) -> list[TextTable]:
        """Return the tables overall, by group, and of tasks with different outcomes."""
        return list(comparison_tables(self))

    def as_dict(self) -> dict[str, Any]:
        names = ("suite", "verdict", "overall", "groups", "changed", "notes")
        return {"schema_version": SCHEMA_VERSION, **{name: getattr(self, name) for name in names}}


def compare_players(observed: Observations, *, seed: int, notes: Sequence[str] = ()) -> RunComparison:
    """Compare all players that share tasks: overall, by group, and task by task."""
    suite = observed.suite
    groups = {
        grouping.name: pairs
        for number, grouping in enumerate(suite.groupings)
        if grouping.shown and len({group for case in observed.cases for group in case.groups_in(number)}) > 1
        if (pairs := comparisons_of(observed, seed=seed, grouping=number))
    }
    rows = [row_of(observed, player, observed.rows_of(player)) for player in observed.players]
    overall = comparisons_of(observed, seed=seed)
    every = [*overall, *chain(*groups.values())]
    return RunComparison(
        suite.suite,
        suite.compared,
        suite.groupings,
        overall,
        groups,
        list(_changed_tasks(observed, overall)),
        (*notes, *method_notes((), every)),
        verdict_on(observed, rows, overall),
    )


def _changed_tasks(observed: Observations, pairs: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
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
        first, second = (reached.get(player, {}) for player in players)
        for task in sorted(first.keys() & second.keys()):
            if first[task] != second[task] and not math.isnan(first[task] + second[task]):
                yield {
                    "task_id": task,
                    **{name: group for name, group in groups_of[task].items() if group is not None},
                    **{name: pair[name] for name in pair if name.startswith(("first_", "second_"))},
                    "better": "first" if first[task] > second[task] else "second",
                    "first": round(first[task], DIGITS),
                    "second": round(second[task], DIGITS),
                }
