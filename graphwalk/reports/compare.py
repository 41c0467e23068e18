"""Compare players on identical tasks: of one run, across runs, and on a graph against its anonymised copy."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

from graphwalk.evaluation.statistics import Comparison, Unit, compare, holm, least_p_value, outcomes_of
from graphwalk.reports.observations import Observations, Player
from graphwalk.reports.player_rows import row_of
from graphwalk.reports.suite_report import DIGITS, PERCENT, SIDES, ReportRow
from graphwalk.reports.tables import comparison_table
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


def comparisons_of(
    observed: Observations, *, seed: int, pairs: Iterable[tuple[Player, Player]] | None = None
) -> list[dict[str, Any]]:
    """Compare the pairs of players that share tasks; `pairs`: only these.

    A pair has `first_model`, `first_setting`, the same of the second, and `measures` (those that the suite compares).
    Each has `difference` (first − second, repeats averaged per task; in percentage points or in the unit of the
    measure) with `interval`, or `no_interval` with the reason; `tasks`, `graphs`, `unit` (graph or question: the
    independent unit); `p_value` (sign flips over these units, mid-p), `p_holm` (the same, adjusted over all pairs),
    `p_least` (the smallest p that this number of units allows); and tasks `first_better`, `second_better`, `equal`.
    """
    kinds = {measure.name: measure.kind for measure in observed.suite.measures}
    columns = [list(kinds).index(name) for name in observed.suite.compared]
    outcomes = {}
    for player in observed.players:
        values, *units = observed.part(observed.rows_of(player))
        outcomes[player] = outcomes_of(values[:, columns], *units)
    compared_pairs: list[dict[str, Any]] = []
    for players in combinations(outcomes, 2) if pairs is None else pairs:
        compared = dict(
            zip(observed.suite.compared, compare(*(outcomes[player] for player in players), seed=seed), strict=True)
        )
        if compared[observed.suite.compared[0]].difference.n:
            sides = zip(SIDES, players, strict=True)
            named = {f"{side}_{name}": value for side, player in sides for name, value in player._asdict().items()}
            compared_pairs.append(
                {**named, "measures": {name: _measure(one, kinds[name]) for name, one in compared.items()}}
            )
    for name in observed.suite.compared:
        every = [pair["measures"][name] for pair in compared_pairs]
        tested = [measure for measure in every if measure["p_value"] is not None]
        for measure, p in zip(tested, holm([measure["p_value"] for measure in tested]), strict=True):
            measure["p_holm"] = p
    return compared_pairs


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
    over, (scale, most) = one.difference, _UNITS.get(kind, (1, math.inf))
    difference = over.scaled(scale)
    ends = [end for end in (difference.low, difference.high) if end is not None]
    return {
        "difference": None if difference.value is None else round(difference.value, DIGITS),
        "interval": [round(max(-most, min(most, end)), DIGITS) for end in ends] or None,
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


@dataclass(frozen=True)
class RunComparison:
    """Players of one or more runs: `overall` as `comparisons_of` returns it, and the `verdict` in words."""

    suite: str
    measures: tuple[str, ...]
    overall: list[dict[str, Any]]
    notes: tuple[str, ...]
    verdict: tuple[str, ...] = ()
    incomplete: str | None = None
    is_scored: bool = True

    @cached_property
    def tables(self) -> list[TextTable]:
        """Return the table of pairs, if there are any."""
        return [comparison_table(self.overall, self.measures)] if self.overall else []

    def as_dict(self) -> dict[str, Any]:
        names = ("suite", "verdict", "overall", "notes")
        return {"schema_version": SCHEMA_VERSION, **{name: getattr(self, name) for name in names}}


def compare_players(observed: Observations, *, seed: int, notes: Sequence[str] = ()) -> RunComparison:
    """Compare all players that share tasks."""
    rows = [row_of(observed, player, observed.rows_of(player)) for player in observed.players]
    overall = comparisons_of(observed, seed=seed)
    every = (*notes, *method_notes((), overall))
    return RunComparison(
        observed.suite.suite, observed.suite.compared, overall, every, verdict_on(observed, rows, overall)
    )
