"""Compare players on identical tasks: of one run, across runs, and on a graph against its anonymised copy."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
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
)
from graphwalk.reports.observations import Observations, Player
from graphwalk.reports.player_rows import row_of
from graphwalk.reports.suite_report import DIGITS, PERCENT, SIDES, ReportRow
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


def comparisons_of(observed: Observations, *, seed: int) -> list[dict[str, Any]]:
    """Compare the pairs of players that share tasks.

    A pair has `first_model`, `first_setting`, the same of the second, and `measures` (those that the suite compares).
    Each has `difference` (first − second, repeats averaged per task; in percentage points or in the unit of the
    measure) with `interval`, or `no_interval` with the reason; `tasks`, `graphs`, `unit` (graph or question: the
    independent unit); `p_value` (sign flips over these units, mid-p), `p_holm` (the same, adjusted over all pairs),
    `p_least` (the smallest p that this number of units allows); and tasks `first_better`, `second_better`, `equal`.
    """
    outcomes = {player: player_outcomes(observed, observed.rows_of(player)) for player in observed.players}
    kinds = {measure.name: measure.kind for measure in observed.suite.measures}
    pairs: list[dict[str, Any]] = []
    for players in combinations(outcomes, 2):
        compared = dict(
            zip(observed.suite.compared, compare(*(outcomes[player] for player in players), seed=seed), strict=True)
        )
        if compared[observed.suite.compared[0]].difference.n:
            sides = zip(SIDES, players, strict=True)
            named = {f"{side}_{name}": value for side, player in sides for name, value in player._asdict().items()}
            pairs.append({**named, "measures": {name: _measure(one, kinds[name]) for name, one in compared.items()}})
    for name in observed.suite.compared:
        tested = [pair["measures"][name] for pair in pairs if pair["measures"][name]["p_value"] is not None]
        for measure, p in zip(tested, holm([measure["p_value"] for measure in tested]), strict=True):
            measure["p_holm"] = p
    return pairs


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
    if tested:
        yield ("Pairs: first − second on identical tasks, repeats averaged; percentages differ in percentage points.")
        yield from (note for unit, note in _TESTS.items() if unit in tested)


def _measure(one: Comparison, kind: str) -> dict[str, Any]:
    """Return the fields of a measure of this kind."""
    over = one.difference
    return {
        **difference_of(one, *_UNITS.get(kind, (1, math.inf))),
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
    """Players of one or more runs: `overall` as `comparisons_of` returns it.

    `verdict` sums it up in words. `changed`: a record for each task and pair in which one player was better, with the
    groups of the task and the value of each.
    """

    suite: str
    measures: tuple[str, ...]
    overall: list[dict[str, Any]]
    changed: list[dict[str, Any]]
    notes: tuple[str, ...]
    verdict: tuple[str, ...] = ()
    incomplete: str | None = None
    is_scored: bool = True

    @cached_property
    def tables(self) -> list[TextTable]:
        """Return the tables overall and of tasks with different outcomes."""
        return list(comparison_tables(self))

    def as_dict(self) -> dict[str, Any]:
        names = ("suite", "verdict", "overall", "changed", "notes")
        return {"schema_version": SCHEMA_VERSION, **{name: getattr(self, name) for name in names}}


def compare_players(observed: Observations, *, seed: int, notes: Sequence[str] = ()) -> RunComparison:
    """Compare all players that share tasks: overall, and task by task."""
    suite = observed.suite
    rows = [row_of(observed, player, observed.rows_of(player)) for player in observed.players]
    overall = comparisons_of(observed, seed=seed)
    return RunComparison(
        suite.suite,
        suite.compared,
        overall,
        list(_changed_tasks(observed, overall)),
        (*notes, *method_notes((), overall)),
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
