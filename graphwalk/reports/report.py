"""Compute the tables of a run as plain data."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from graphwalk.evaluation.comments import comment
from graphwalk.evaluation.statistics import Outcomes, compare, outcomes_of
from graphwalk.reports.compare import comparisons_of, difference_of, reasons_of, test_notes
from graphwalk.reports.observations import Observations, Player, observe, player_order
from graphwalk.reports.player_rows import exact_row, row_of
from graphwalk.reports.suite_report import (
    PERCENT,
    Reference,
    Report,
    ReportRow,
    ResultRecord,
    SuiteReport,
)
from graphwalk.reports.text_table import interval_notes
from graphwalk.reports.verdict import verdict_on
from graphwalk.types.episode import setting_of

_PASS = "pass@k: share of tasks with at least one correct try in k; pass^k: with k correct tries."
_DIGITS = 6


def build_report(
    results: Iterable[ResultRecord], declared: SuiteReport, *, reference: Reference | None = None, seed: int = 0
) -> Report:
    """Return the report of a run from the objects of its log, in any order."""
    return report_on(observe(results, declared), reference=reference, seed=seed)


def report_on(observed: Observations, *, reference: Reference | None = None, seed: int = 0) -> Report:
    """Return the report of observed results. `seed` is used by randomisation tests with many graphs."""
    declared = observed.suite
    rows = [row_of(observed, player, observed.rows_of(player)) for player in observed.players]
    groups = dict(_rows_by_grouping(observed, row_of))
    baselines, baseline_rows = observed.baselines, list[ReportRow]()
    if baselines:
        baseline_rows = [exact_row(baselines, player, baselines.rows_of(player)) for player in baselines.players]
    comparisons: list[dict[str, Any]] = []
    memorised: list[dict[str, Any]] = []
    verdict: tuple[str, ...] = ()
    missing: list[str] = []
    with comment("comparison of models and settings", missing.append):
        comparisons = comparisons_of(observed, seed=seed)
    with comment("memorisation test", missing.append):
        memorised = memorisation_test(observed, seed=seed)
    with comment("verdict", missing.append):
        verdict = verdict_on(observed, rows, comparisons, baseline_rows)
    every = list(chain(rows, *groups.values()))
    reasons = {reason for row in every for reason in row["no_interval"].values()}
    return Report(
        suite=declared,
        rows=rows,
        baselines=baseline_rows,
        groups=groups,
        baseline_groups=dict(_rows_by_grouping(baselines, exact_row, list(groups))) if baselines else {},
        comparisons=comparisons,
        memorisation_test=memorised,
        reference=_matching(reference, observed.players),
        notes=(
            *declared.notes,
            *interval_notes((row["unit"] for row in every if row["intervals"]), reasons | reasons_of(comparisons)),
            *([_PASS] if any("k" in row for row in rows) else []),
            *test_notes(comparisons),
            *observed.remarks,
            *missing,
        ),
        verdict=verdict,
    )


def _rows_by_grouping(
    observed: Observations, row: Callable[..., ReportRow], only: Sequence[str] | None = None
) -> Iterator[tuple[str, list[ReportRow]]]:
    """Yield each grouping with its rows. `only`: only these groupings."""
    for number, grouping in enumerate(observed.suite.groupings):
        members = observed.members(number) if only is None or grouping.name in only else {}
        ordered = sorted(members, key=lambda key: (grouping.sort_key(key[0]), player_order(key[1])))
        if ordered:
            yield (
                grouping.name,
                [row(observed, player, members[group, player], **{grouping.name: group}) for group, player in ordered],
            )


def _matching(reference: Reference | None, players: list[Player]) -> Reference | None:
    """Return the published rows of settings that were run."""
    if reference is None:
        return None
    settings = {setting_of(player.setting) for player in players}

    def run(rows: tuple[ReportRow, ...]) -> tuple[ReportRow, ...]:
        return tuple(row for row in rows if row["setting"] in settings)

    return replace(
        reference, rows=run(reference.rows), groups={name: run(rows) for name, rows in reference.groups.items()}
    )


def memorisation_test(observed: Observations, *, seed: int) -> list[dict[str, Any]]:
    """Compare each player on a graph and on its anonymised copy, question by question.

    Per player: `graph` and `copy` (accuracy in percent), `difference` with its `interval` (95 %; None with the reason
    in `no_interval`), `questions`, `graphs`, questions right on one only (`only_graph`, `only_copy`; repeats averaged),
    `p_value` (exact McNemar) and `p_sign_flips` (None with one graph).
    """
    rows = ((player, _memorisation_row(observed, player, seed)) for player in observed.players)
    return [{**player._asdict(), **row} for player, row in rows if row is not None]


def _memorisation_row(observed: Observations, player: Player, seed: int) -> dict[str, Any] | None:
    accuracy = observed.column(observed.suite.compared[0])
    numbers = observed.rows_of(player).tolist()
    copies = [i for i in numbers if observed.cases[i].twin_of is not None]
    task_ids = {observed.cases[i].twin_of for i in copies}
    originals = [i for i in numbers if observed.cases[i].task_id in task_ids]
    if not copies or not originals:
        return None
    graph_of = {observed.cases[i].task_id: observed.cases[i].cluster for i in originals}
    graphs = len(set(graph_of.values()))

    def outcomes(tasks: list[tuple[int, str]]) -> Outcomes:
        pairs = [(i, task) for i, task in tasks if task in graph_of]
        numbers, names = [i for i, _ in pairs], [task for _, task in pairs]
        return outcomes_of(accuracy[numbers], [graph_of[task] for task in names], names)

    first = outcomes([(i, observed.cases[i].task_id) for i in originals])
    second = outcomes([(i, observed.cases[i].twin_of or "") for i in copies])
    (compared,) = compare(first, second, seed=seed)
    return {
        "graph": round(PERCENT * float(np.nanmean(first.values)), _DIGITS),
        "copy": round(PERCENT * float(np.nanmean(second.values)), _DIGITS),
        **difference_of(compared, PERCENT, PERCENT),
        "no_interval": "all questions have the same difference" if compared.difference.reason else None,
        "questions": compared.difference.n,
        "graphs": graphs,
        "only_graph": compared.first_better,
        "only_copy": compared.second_better,
        "p_value": compared.mcnemar_p_value,
        "p_sign_flips": compared.sign_flips.mid_p if graphs > 1 else None,
    }
