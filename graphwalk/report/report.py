"""The tables of a run, as plain data."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphwalk.report.declared import Grouping, Measure, Reference, Report, ReportRow, ResultRecord, SuiteReport
from graphwalk.report.observations import Observations, Player, observe
from graphwalk.scoring.statistics import Interval, cluster_bootstrap, mcnemar_exact, wilson_interval

_MOST_CAUSES = 3


def build_report(
    results: Iterable[ResultRecord], declared: SuiteReport, *, reference: Reference | None = None, seed: int = 0
) -> Report:
    """The report of a run from the objects of its log, in any order; `declared` is what its suite measures.

    `seed` is that of the bootstrap.
    """
    observed = observe(results, declared)
    groups = dict(_grouped(observed, seed))
    return Report(
        suite=declared,
        rows=[_row(observed, player, observed.rows_of(player), seed) for player in observed.players],
        baselines=_baseline_rows(observed.baselines, seed) if observed.baselines else [],
        groups={**groups, **declared.derived(groups)},
        comparisons=list(_comparisons(observed, seed)),
        reference=_matching(reference, observed.players),
        notes=(*declared.notes, *observed.remarks, *_failures(observed)),
    )


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


def _baseline_rows(baselines: Observations, seed: int) -> list[ReportRow]:
    """They are exact, and have no intervals."""
    return [{**_row(baselines, p, baselines.rows_of(p), seed), "intervals": {}} for p in baselines.players]


def _row(observed: Observations, player: Player, numbers: NDArray[np.int64], seed: int, **group: Any) -> ReportRow:
    values = observed.values[numbers]
    measures = observed.suite.measures
    means = [i for i, measure in enumerate(measures) if measure.kind == "mean"]
    clusters = [observed.cases[i].cluster for i in numbers]
    bootstrapped = dict(zip(means, cluster_bootstrap(values[:, means], clusters, seed), strict=True))
    row: ReportRow = {**player._asdict(), **group}
    intervals: dict[str, list[float]] = {}
    for number, measure in enumerate(measures):
        known = values[:, number][~np.isnan(values[:, number])]
        row[measure.name] = _total(measure, known)
        interval = bootstrapped.get(number) if measure.kind != "percent" else _wilson(known)
        if interval is not None:
            intervals[measure.name] = [round(interval.low, 6), round(interval.high, 6)]
    return {**row, "intervals": intervals}


def _total(measure: Measure, known: NDArray[np.float64]) -> float | int | None:
    """None where nothing is known, so that "none" and "unknown" stay apart."""
    if not len(known):
        return None
    if measure.kind == "count":
        return round(float(known.sum()))
    if measure.kind == "total":
        return round(float(known.sum()), 6)
    return round(float(known.mean()) * (100 if measure.kind == "percent" else 1), 6)


def _wilson(known: NDArray[np.float64]) -> Interval | None:
    interval = wilson_interval(int(known.sum()), len(known))
    return interval and interval.scaled(100)


def _grouped(observed: Observations, seed: int) -> Iterator[tuple[str, list[ReportRow]]]:
    for number, grouping in enumerate(observed.suite.groupings):
        rows = list(_group_rows(observed, number, grouping, seed))
        if rows:
            yield grouping.name, rows


def _group_rows(observed: Observations, number: int, grouping: Grouping, seed: int) -> Iterator[ReportRow]:
    members: dict[tuple[Any, Player], list[int]] = {}
    for i, case in enumerate(observed.cases):
        if case.groups[number] is not None:
            members.setdefault((case.groups[number], case.player), []).append(i)
    for group, player in sorted(members, key=lambda key: (grouping.sort_key(key[0]), key[1])):
        yield _row(observed, player, np.array(members[group, player]), seed, **{grouping.name: group})


def _comparisons(observed: Observations, seed: int) -> Iterator[dict[str, Any]]:
    columns = np.stack([observed.column(name) for name in observed.suite.compared], axis=1)
    scored: dict[Player, dict[tuple[str, int], int]] = {player: {} for player in observed.players}
    for i, case in enumerate(observed.cases):
        if not np.isnan(columns[i]).any():
            scored[case.player][case.task_id, case.repeat] = i
    for first, second in combinations(observed.players, 2):
        common = [task for task in scored[first] if task in scored[second]]
        if common:
            pairs = np.array([(scored[first][task], scored[second][task]) for task in common])
            clusters = [observed.cases[i].cluster for i in pairs[:, 0]]
            yield {
                **{f"first_{name}": value for name, value in first._asdict().items()},
                **{f"second_{name}": value for name, value in second._asdict().items()},
                **_difference(observed.suite.compared, columns[pairs[:, 0]], columns[pairs[:, 1]], clusters, seed),
            }


def _difference(
    names: tuple[str, ...], first: NDArray[np.float64], second: NDArray[np.float64], clusters: list[str], seed: int
) -> dict[str, Any]:
    """Paired differences; the first column is 0 or 1 and its difference is in percentage points."""
    difference = first - second
    difference[:, 0] *= 100
    first_only, second_only = int((difference[:, 0] > 0).sum()), int((difference[:, 0] < 0).sum())
    intervals = cluster_bootstrap(difference, clusters, seed)
    return {
        "questions": len(difference),
        "first_only": first_only,
        "second_only": second_only,
        "p_value": mcnemar_exact(first_only, second_only),
        **{f"{name}_difference": round(float(m), 6) for name, m in zip(names, difference.mean(axis=0), strict=True)},
        "intervals": {
            f"{name}_difference": [round(interval.low, 6), round(interval.high, 6)]
            for name, interval in zip(names, intervals, strict=True)
            if interval
        },
    }


def _matching(reference: Reference | None, players: list[Player]) -> Reference | None:
    """The published rows for settings that were run here too."""
    if reference is None:
        return None
    settings = {player.setting for player in players}
    groups = {name: tuple(row for row in rows if row["setting"] in settings) for name, rows in reference.groups.items()}
    return Reference(
        reference.source, reference.notes, tuple(r for r in reference.rows if r["setting"] in settings), groups
    )
