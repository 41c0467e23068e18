"""Compare players on identical tasks: of one run, across runs, and on a graph against its anonymised copy."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import polars as pl

from graphwalk.analysis.report.episodes import PLAYER, players_of, rows_of
from graphwalk.analysis.report.suite_report import DIGITS, PERCENT, ReportRow, SuiteReport
from graphwalk.analysis.report.tables import comparison_table
from graphwalk.analysis.report.text_table import OVER_QUESTIONS, UNKNOWN, TextTable
from graphwalk.analysis.report.verdict import verdict_on
from graphwalk.analysis.statistics import compare, holm, least_p_value, tasks_of
from graphwalk.version import SCHEMA_VERSION

_INTERVALS: Mapping[str, str] = {
    "graph": "The graph is the cluster, since tasks on one graph are dependent.",
    "question": f"Where all tasks are on one graph, intervals are {OVER_QUESTIONS}; they do not hold for other graphs.",
}
_TESTS: Mapping[str, str] = {
    "graph": "Holm p: sign-flip test over graphs (mid-p), adjusted over all pairs of its table.",
    "question": f"Holm p: sign-flip test {OVER_QUESTIONS} (mid-p), adjusted over all pairs of its table.",
}
Player = tuple[str, str]
_PAIR = dict.fromkeys(("first_model", "first_setting", "second_model", "second_setting"), pl.String)
_UNITS: Mapping[str, tuple[float, float]] = {"percent": (PERCENT, PERCENT), "share": (1, 1)}
"""Unit in a table, and largest possible difference, by kind of measure."""


def comparisons_of(
    episodes: pl.DataFrame, suite: SuiteReport, *, seed: int, pairs: Iterable[tuple[Player, Player]] | None = None
) -> list[dict[str, Any]]:
    """Compare the pairs of players that share tasks; `pairs`: only these.

    A pair has `first_model`, `first_setting`, the same of the second, and `measures` (those that the suite compares).
    Each has `difference` (first − second, repeats averaged per task; in percentage points or in the unit of the
    measure) with `interval`, or `no_interval` with the reason; `tasks`, `graphs`, `unit` (graph or question: the
    independent unit); `p_value` (sign flips over these units, mid-p), `p_holm` (the same, adjusted over all pairs),
    `p_least` (the smallest p that this number of units allows); and tasks `first_better`, `second_better`, `equal`.
    """
    pairs = list(combinations(players_of(episodes), 2) if pairs is None else pairs)
    if not pairs:
        return []
    names = pl.DataFrame([(*first, *second) for first, second in pairs], _PAIR, orient="row")
    compared = compare(tasks_of(episodes, PLAYER, suite.compared), names, suite.compared, seed=seed)
    kinds = {measure.name: measure.kind for measure in suite.measures}
    compared_pairs = []
    for part in compared.partition_by(*_PAIR):
        measures = {row["measure"]: _measure(row, kinds[row["measure"]]) for row in part.to_dicts()}
        if measures[suite.compared[0]]["tasks"]:
            compared_pairs.append({**part.select(*_PAIR).row(0, named=True), "measures": measures})
    for name in suite.compared:
        every = [pair["measures"][name] for pair in compared_pairs]
        tested = [measure for measure in every if measure["p_value"] is not None]
        for measure, p in zip(tested, holm([measure["p_value"] for measure in tested]), strict=True):
            measure["p_holm"] = p
    return compared_pairs


def memorisation_test(episodes: pl.DataFrame, suite: SuiteReport, *, seed: int) -> list[dict[str, Any]]:
    """Compare each player on a graph and on its anonymised copy, question by question: pairs as of `comparisons_of`."""
    originals = episodes.filter(pl.col("task_id").is_in(episodes["twin_of"].drop_nulls().implode()))
    graphs = originals.select("task_id", "graph").unique()
    copies = episodes.drop("task_id", "graph").join(graphs, left_on="twin_of", right_on="task_id")
    copies = copies.rename({"twin_of": "task_id"}).with_columns(pl.col("setting") + " (copy)")
    both = pl.concat([originals, copies], how="diagonal").with_columns(question="task_id")
    players, played = players_of(originals), players_of(copies)
    pairs = [((model, setting), (model, f"{setting} (copy)")) for model, setting in sorted(players)]
    return comparisons_of(both, suite, seed=seed, pairs=[pair for pair in pairs if pair[1] in played])


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


def _measure(compared: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Return the fields of a measure of this kind."""
    scale, most = _UNITS.get(kind, (1, math.inf))
    value, ends, clusters = compared["value"], (compared["low"], compared["high"]), int(compared["clusters"])
    return {
        "difference": None if value is None else round(scale * value, DIGITS),
        "interval": None if None in ends else [round(max(-most, min(most, scale * end)), DIGITS) for end in ends],
        "no_interval": compared["reason"],
        "tasks": int(compared["n"]),
        "graphs": clusters if compared["unit"] == "graph" else min(clusters, 1),
        "unit": compared["unit"],
        "p_value": compared["p_value"],
        "p_holm": None,
        "p_least": None if compared["p_value"] is None else least_p_value(clusters),
        **{name: compared[name] for name in ("first_better", "second_better", "equal")},
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


def compare_players(
    episodes: pl.DataFrame, suite: SuiteReport, *, seed: int, notes: Sequence[str] = ()
) -> RunComparison:
    """Compare all players that share tasks."""
    rows = rows_of(episodes, suite)
    overall = comparisons_of(episodes, suite, seed=seed)
    verdict = verdict_on(episodes, suite, rows, overall)
    return RunComparison(suite.suite, suite.compared, overall, (*notes, *method_notes((), overall)), verdict)
