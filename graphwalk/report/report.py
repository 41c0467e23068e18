"""The tables of a run, as plain data."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from graphwalk.report.by_heart import known_by_heart
from graphwalk.report.comparison_table import PAIRS_NOTE
from graphwalk.report.comparisons import comparisons_of
from graphwalk.report.declared import Reference, Report, ReportRow, ResultRecord, SuiteReport
from graphwalk.report.formats import without_range
from graphwalk.report.observations import Observations, Player, observe
from graphwalk.report.rows import exact_row, row_of

_MOST_CAUSES = 3


def build_report(
    results: Iterable[ResultRecord], declared: SuiteReport, *, reference: Reference | None = None, seed: int = 0
) -> Report:
    """The report of a run from the objects of its log, in any order; `declared` is what its suite measures.

    `seed` is for the signs that tests draw where graphs are many.
    """
    return report_on(observe(results, declared), reference=reference, seed=seed)


def report_on(observed: Observations, *, reference: Reference | None = None, seed: int = 0) -> Report:
    """The same from what was observed of the results."""
    declared = observed.suite
    rows = [row_of(observed, player, observed.rows_of(player)) for player in observed.players]
    groups = dict(_grouped(observed, row_of))
    baselines = observed.baselines
    comparisons = comparisons_of(observed, seed=seed)
    reasons = _without_interval([*rows, *(row for grouped in groups.values() for row in grouped)], comparisons)
    return Report(
        suite=declared,
        rows=rows,
        baselines=[exact_row(baselines, p, baselines.rows_of(p)) for p in baselines.players] if baselines else [],
        groups={**groups, **declared.derived(groups)},
        baseline_groups=dict(_grouped(baselines, exact_row, list(groups))) if baselines else {},
        comparisons=comparisons,
        known_by_heart=known_by_heart(observed, seed=seed),
        reference=_matching(reference, observed.players),
        notes=(*declared.notes, *_on_numbers(rows, comparisons), *reasons, *observed.remarks, *_failures(observed)),
    )


def _on_numbers(rows: Sequence[ReportRow], comparisons: Sequence[dict[str, Any]]) -> Iterator[str]:
    """What ranges and tests are, in a line each."""
    if rows:
        yield "Ranges are 95 % intervals over graphs: tasks on one graph, and repeats of a task, count as dependent."
    if any("k" in row for row in rows):
        yield "pass@k: at least one of k tries is right; pass^k: all of them; in percent of the tasks with k tries."
    if comparisons:
        yield PAIRS_NOTE


def _failures(observed: Observations) -> Iterator[str]:
    """How many episodes failed, and the most frequent reasons."""
    failed = [
        case
        for case, is_failed in zip(observed.cases, observed.column("infrastructure_failures"), strict=True)
        if is_failed == 1
    ]
    if not failed:
        return
    yield f"{len(failed)} of {len(observed.cases)} episodes failed and have no score; resume the run to try again."
    causes = Counter(case.failure for case in failed if case.failure)
    for cause, count in causes.most_common(_MOST_CAUSES):
        yield f"{count} × {cause}"


def _grouped(
    observed: Observations, row: Callable[..., ReportRow], known: Sequence[str] | None = None
) -> Iterator[tuple[str, list[ReportRow]]]:
    """Rows by grouping; `known`: only these groupings."""
    for number, grouping in enumerate(observed.suite.groupings):
        members = observed.members(number) if known is None or grouping.name in known else {}
        ordered = sorted(members, key=lambda key: (grouping.sort_key(key[0]), key[1]))
        if ordered:
            rows = [
                row(observed, player, members[group, player], **{grouping.name: group}) for group, player in ordered
            ]
            yield grouping.name, rows


def _without_interval(rows: Iterable[ReportRow], comparisons: Iterable[dict[str, Any]]) -> Iterator[str]:
    """A note on why ranges are missing."""
    reasons = {reason for row in rows for reason in row.get("no_interval", {}).values()}
    reasons |= {measure["no_interval"] for pair in comparisons for measure in pair["measures"].values()} - {None}
    return without_range(reasons)


def _matching(reference: Reference | None, players: list[Player]) -> Reference | None:
    """The published rows for settings that were run here too."""
    if reference is None:
        return None
    settings = {player.setting for player in players}
    groups = {name: tuple(row for row in rows if row["setting"] in settings) for name, rows in reference.groups.items()}
    return Reference(
        reference.source, reference.notes, tuple(r for r in reference.rows if r["setting"] in settings), groups
    )
