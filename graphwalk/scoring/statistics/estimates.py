"""Means and shares of clustered tasks, with intervals that graphs, not episodes, pay for."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from graphwalk.scoring.statistics.outcomes import Numbers, Outcomes, Table, sums_by
from graphwalk.scoring.statistics.student import t_quantile
from graphwalk.scoring.statistics.wilson import wilson_bounds

CONFIDENCE = 0.95
PRIOR_CORRELATION = 0.5
"""Assumed between two tasks of a graph, as far as the data cannot tell."""
SKEWNESS_WEIGHT = 1 / 8
"""How soon what is assumed outweighs what is seen; both numbers were chosen by `make coverage`."""
MOST_PER_EPISODE = 4.0
"""An effective number of tasks is at most so many times the episodes: graphs that agree by chance prove little."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over tasks with its interval.

    `value` is None where nothing is known. `low`, `high` and `error` (the cluster-robust standard error) are None
    where there is no interval; `reason` then says why, in words. `n` counts tasks, `clusters` their graphs; `df` are
    the degrees of freedom of t.
    """

    value: float | None
    low: float | None
    high: float | None
    error: float | None
    n: int
    clusters: int
    df: float | None = None
    reason: str = ""

    def scaled(self, factor: float) -> "Estimate":
        """The same in another unit, such as percent; `factor` is above 0."""
        value, low, high, error = (
            part if part is None else part * factor for part in (self.value, self.low, self.high, self.error)
        )
        return replace(self, value=value, low=low, high=high, error=error)


@dataclass(frozen=True)
class Clustered:
    """Per measure, each of shape (measures,): known tasks `n`, graphs with one, their mean, and its variance.

    `size`: tasks in the graph of a task drawn at random. `variance` and the degrees of freedom `df` of t are NaN below
    two graphs.
    """

    n: Numbers
    clusters: Numbers
    mean: Table
    variance: Table
    size: Table
    df: Table


def clustered(outcomes: Outcomes) -> Clustered:
    """Mean s̄ and its variance C/(C-1) · Σ_graphs (Σ_tasks (s - s̄))² / n², as in Miller (arXiv 2411.00640).

    Degrees of freedom are C - 1 where graphs hold equally many tasks; else C is n² / Σ n_c², since a graph with most
    of the tasks makes the others count for little. They are at least 1.
    """
    known = ~np.isnan(outcomes.values)
    groups = int(outcomes.graphs.max(initial=-1)) + 1
    counts = sums_by(outcomes.graphs, known.astype(np.float64), groups)
    n, clusters = known.sum(axis=0), (counts > 0).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(known, outcomes.values, 0.0).sum(axis=0) / n
        deviations = sums_by(outcomes.graphs, np.where(known, outcomes.values - mean, 0.0), groups)
        variance = clusters / (clusters - 1) * (deviations**2).sum(axis=0) / n**2
        size = (counts**2).sum(axis=0) / n
        df = np.maximum(n / size - 1, 1)
    several = clusters > 1
    return Clustered(n, clusters, mean, np.where(several, variance, np.nan), size, np.where(several, df, np.nan))


def estimate_means(outcomes: Outcomes, *, confidence: float = CONFIDENCE) -> list[Estimate]:
    """Per measure, the mean ± t · SE; for amounts such as calls, or differences.

    No interval where every graph has the same mean: that the spread is nothing is then not known, only not seen.
    """
    seen = clustered(outcomes)
    half = _quantiles(seen.df, confidence) * np.sqrt(seen.variance)
    scale = np.abs(np.where(np.isnan(outcomes.values), 0.0, outcomes.values)).max(axis=0, initial=0.0)
    flat = np.sqrt(np.nan_to_num(seen.variance)) <= 1e-12 * scale
    return list(_estimates(seen, seen.mean - half, seen.mean + half, flat))


def estimate_shares(outcomes: Outcomes, *, confidence: float = CONFIDENCE) -> list[Estimate]:
    """Per measure with values between 0 and 1, Wilson's interval with the effective number of tasks and t for z.

    How many independent tasks these would be worth is n / D, with the design effect D of `_design_effect`.
    """
    seen = clustered(outcomes)
    with np.errstate(invalid="ignore", divide="ignore"):
        effective = np.minimum(seen.n / _design_effect(seen), MOST_PER_EPISODE * outcomes.episodes)
        low, high = wilson_bounds(seen.mean, effective, _quantiles(seen.df, confidence))
    return list(_estimates(seen, low, high, np.zeros(len(seen.n), dtype=np.bool_)))


def _design_effect(seen: Clustered) -> Table:
    """Variance of the mean ÷ that of as many independent yes/no tasks.

    Seen is D = n · SE² / p(1-p). Near 0 or 1 the mean of a graph is skewed: most graphs look alike, and the spread
    that is seen is mostly too small, most of all where p looks extreme. So D is drawn, in logarithms, towards that of
    a correlation assumed beforehand, the more so the greater the squared skewness of a graph's mean is; with p = 1/2
    nothing is drawn, with p = 0 or 1 all is assumed.
    """
    p, chance = seen.mean, seen.mean * (1 - seen.mean)
    assumed = 1 + (seen.size - 1) * PRIOR_CORRELATION
    inside = chance > 0
    observed = np.where(inside, seen.n * seen.variance / np.where(inside, chance, 1.0), 0.0)
    effective = seen.n / np.maximum(observed, 1)
    guarded = (p * effective + 0.5) / (effective + 1)
    skewness_squared = (1 - 2 * guarded) ** 2 / (effective * seen.size / seen.n * guarded * (1 - guarded))
    weight = np.where(inside, 1 / (1 + SKEWNESS_WEIGHT * skewness_squared), 0.0)
    return np.asarray(observed**weight * assumed ** (1 - weight))


def _quantiles(df: Table, confidence: float) -> Table:
    """t for a two-sided interval; NaN where there are no degrees of freedom."""
    upper = (1 + confidence) / 2
    return np.array([t_quantile(upper, each) if each > 0 else np.nan for each in df.tolist()])


def _estimates(seen: Clustered, low: Table, high: Table, flat: NDArray[np.bool_]) -> Iterator[Estimate]:
    columns = (flat, seen.n, seen.clusters, seen.mean, low, high, np.sqrt(seen.variance), seen.df)
    for is_flat, n, clusters, mean, *spread in zip(*(column.tolist() for column in columns), strict=True):
        reason = _reason(n, clusters, is_flat)
        bottom, top, error, df = [None] * 4 if reason else spread
        yield Estimate(mean if n else None, bottom, top, error, n, clusters, df, reason)


def _reason(n: int, clusters: int, flat: bool) -> str:
    if n == 0:
        return "nothing is known"
    if clusters < 2:
        return "all tasks are on one graph, which tells nothing about how graphs differ"
    return "all graphs have the same mean, which tells nothing about how graphs differ" if flat else ""
