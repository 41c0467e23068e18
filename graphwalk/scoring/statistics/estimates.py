"""Means and shares of clustered tasks, with intervals that graphs, not episodes, pay for."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from graphwalk.scoring.statistics.clusters import Clustered, clustered
from graphwalk.scoring.statistics.outcomes import Outcomes, Table
from graphwalk.scoring.statistics.shares import share_bounds
from graphwalk.scoring.statistics.student import t_quantile

CONFIDENCE = 0.95


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
    """Per measure with values between 0 and 1, the bounds of `share_bounds`."""
    seen = clustered(outcomes)
    with np.errstate(invalid="ignore", divide="ignore"):
        low, high = share_bounds(seen, outcomes.episodes, _quantiles(seen.df, confidence), confidence)
    return list(_estimates(seen, low, high, np.zeros(len(seen.n), dtype=np.bool_)))


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
        return "all tasks are on one graph"
    return "all graphs have the same mean" if flat else ""
