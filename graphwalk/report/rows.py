"""One row of a report: what a player reached on some episodes, every figure with its interval or a reason."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphwalk.report.declared import Measure, ReportRow
from graphwalk.report.observations import Observations, Player
from graphwalk.scoring.statistics import Estimate, Outcomes, estimate_means, estimate_shares, outcomes_of, pass_rates

PERCENT = 100
ESTIMATED = ("mean", "amount", "share", "percent")
"""Kinds of measures that have intervals."""
_DIGITS = 6


def row_of(observed: Observations, player: Player, numbers: NDArray[np.int64], **group: Any) -> ReportRow:
    """The row of the episodes `numbers`, all of one player; `group` is put beside its name."""
    measures = observed.suite.measures
    values, graphs, tasks = observed.part(numbers)
    outcomes = outcomes_of(values, graphs, tasks)
    estimates = dict(_estimates(measures, outcomes))
    headline = estimates[observed.suite.compared[0]]
    row: ReportRow = {**player._asdict(), **group, "tasks": headline.n, "graphs": headline.clusters}
    for number, measure in enumerate(measures):
        row[measure.name] = _figure(measure, values[:, number], outcomes.values[:, number], estimates)
    if observed.tries > 1:
        right = values[:, [m.name for m in measures].index(observed.suite.compared[0])]
        passed = pass_rates(right, graphs, tasks, observed.tries)
        of_tries = {"pass_at_k": passed.any_of_k.scaled(PERCENT), "pass_hat_k": passed.all_of_k.scaled(PERCENT)}
        row |= {"k": observed.tries, **{name: _rounded(e.value) for name, e in of_tries.items()}}
        estimates |= of_tries
    return row | _certainty(estimates, headline.n)


def exact_row(observed: Observations, player: Player, numbers: NDArray[np.int64], **group: Any) -> ReportRow:
    """The row of a player whose results are computed from the tasks, and so have no interval."""
    return row_of(observed, player, numbers, **group) | {"intervals": {}, "no_interval": {}}


def _estimates(measures: Sequence[Measure], outcomes: Outcomes) -> Iterator[tuple[str, Estimate]]:
    """By name, in the unit of the table; amounts get t intervals, shares Wilson's."""
    for kinds, estimate in ((("mean", "amount"), estimate_means), (("share", "percent"), estimate_shares)):
        chosen = [number for number, measure in enumerate(measures) if measure.kind in kinds]
        some = replace(
            outcomes,
            values=outcomes.values[:, chosen],
            episodes=outcomes.episodes[chosen],
            noise=outcomes.noise[chosen],
        )
        for number, estimated in zip(chosen, estimate(some), strict=True):
            measure = measures[number]
            if measure.kind == "amount" and estimated.low is not None:
                estimated = replace(estimated, low=max(estimated.low, 0.0))
            yield measure.name, estimated.scaled(PERCENT) if measure.kind == "percent" else estimated


def _figure(
    measure: Measure, episodes: NDArray[np.float64], tasks: NDArray[np.float64], estimates: dict[str, Estimate]
) -> float | int | None:
    """None where nothing is known, so that "none" and "unknown" stay apart."""
    if measure.kind in ESTIMATED:
        return _rounded(estimates[measure.name].value)
    known = (tasks if measure.kind == "median" else episodes)[
        ~np.isnan(tasks if measure.kind == "median" else episodes)
    ]
    if not len(known):
        return None
    if measure.kind == "median":
        return _rounded(float(np.median(known)))
    return round(float(known.sum())) if measure.kind == "count" else _rounded(float(known.sum()))


def _certainty(estimates: dict[str, Estimate], tasks: int) -> dict[str, Any]:
    known = {name: e for name, e in estimates.items() if e.value is not None}
    return {
        "intervals": {
            name: [round(e.low, _DIGITS), round(e.high, _DIGITS)]
            for name, e in known.items()
            if e.low is not None and e.high is not None
        },
        "no_interval": {name: e.reason for name, e in known.items() if e.reason},
        "known": {name: e.n for name, e in known.items() if e.n != tasks},
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
