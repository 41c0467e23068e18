"""The rows of a report: the measures of a model in a setting, with their intervals."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphwalk.evaluation.statistics import Estimate, Outcomes, estimate_means, estimate_shares, outcomes_of
from graphwalk.reports.observations import Observations, Player
from graphwalk.reports.suite_report import DIGITS, ESTIMATED, PERCENT, Measure, ReportRow


def row_of(observed: Observations, player: Player, numbers: NDArray[np.int64], **group: Any) -> ReportRow:
    """Return the row of the episodes `numbers`, all of one player. `group` is added to the row."""
    measures = observed.suite.measures
    values, graphs, tasks, questions = observed.part(numbers)
    outcomes = outcomes_of(values, graphs, tasks, questions)
    estimates = dict(_estimates(measures, outcomes))
    headline = estimates[observed.suite.compared[0]]
    row: ReportRow = {
        **player._asdict(),
        **group,
        "tasks": headline.n,
        "graphs": headline.graphs,
        "unit": headline.unit,
    }
    for number, measure in enumerate(measures):
        row[measure.name] = _figure(measure, values[:, number], outcomes.values[:, number], estimates)
    with_value = {name: e for name, e in estimates.items() if e.value is not None}
    return row | {
        "intervals": {
            name: [round(e.low, DIGITS), round(e.high, DIGITS)]
            for name, e in with_value.items()
            if e.low is not None and e.high is not None
        },
        "no_interval": {name: e.reason for name, e in with_value.items() if e.reason},
        "known": {name: e.n for name, e in with_value.items() if e.n != headline.n},
    }


def exact_row(observed: Observations, player: Player, numbers: NDArray[np.int64], **group: Any) -> ReportRow:
    """Return the row of a baseline, which has no intervals."""
    return row_of(observed, player, numbers, **group) | {"intervals": {}, "no_interval": {}}


def _estimates(measures: Sequence[Measure], outcomes: Outcomes) -> Iterator[tuple[str, Estimate]]:
    """Yield each measure with its estimate: t intervals for amounts, intervals of shares for shares."""
    for kinds, estimate in ((("mean", "amount"), estimate_means), (("share", "percent"), estimate_shares)):
        chosen = [number for number, measure in enumerate(measures) if measure.kind in kinds]
        some = replace(outcomes, values=outcomes.values[:, chosen], episodes=outcomes.episodes[chosen])
        for number, estimated in zip(chosen, estimate(some), strict=True):
            measure = measures[number]
            if measure.kind == "amount" and estimated.low is not None:
                estimated = replace(estimated, low=max(estimated.low, 0.0))
            yield measure.name, estimated.scaled(PERCENT) if measure.kind == "percent" else estimated


def _figure(
    measure: Measure, episodes: NDArray[np.float64], tasks: NDArray[np.float64], estimates: dict[str, Estimate]
) -> float | int | None:
    """Return the value of a measure, or None if it is unknown."""
    if measure.kind in ESTIMATED:
        return _round(estimates[measure.name].value)
    values = tasks if measure.kind == "median" else episodes
    numbers = values[~np.isnan(values)]
    if not len(numbers):
        return None
    if measure.kind == "median":
        return _round(float(np.median(numbers)))
    return round(float(numbers.sum())) if measure.kind == "count" else _round(float(numbers.sum()))


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)
