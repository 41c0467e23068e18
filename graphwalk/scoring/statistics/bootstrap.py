"""Percentile intervals of means by resampling whole graphs."""

import math
from collections.abc import Hashable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphwalk.scoring.statistics.wilson import Interval
from graphwalk.seeds import generator

_CONFIDENCE = 0.95
DRAWS = 1000
_BLOCK = 4_000_000
"""Random numbers drawn at a time."""


def cluster_bootstrap(
    values: ArrayLike, clusters: Sequence[Hashable], seed: int, *, draws: int = DRAWS
) -> list[Interval | None]:
    """95 % percentile intervals of the means of the columns of `values`, shape (n, m) or (n,).

    Whole clusters are drawn with replacement (A. C. Davison and D. V. Hinkley, "Bootstrap Methods and their
    Application", 1997, section 3.8), since episodes on one graph are not independent. NaN: unknown, left out of its
    mean. None for a column that is known in fewer than two clusters: these tell nothing about the spread.
    """
    table = np.asarray(values, dtype=np.float64)
    table = table[:, None] if table.ndim == 1 else table
    sums, counts = _cluster_sums(table, clusters)
    means = _resampled_means(sums, counts, seed, draws)
    tail = (1 - _CONFIDENCE) / 2
    intervals: list[Interval | None] = []
    for column, known in zip(means.T, (counts > 0).sum(axis=0), strict=True):
        finite = column[np.isfinite(column)]
        low, high = np.quantile(finite, [tail, 1 - tail]) if known > 1 and len(finite) else (None, None)
        intervals.append(None if low is None or high is None else Interval(float(low), float(high)))
    return intervals


def _cluster_sums(
    table: NDArray[np.float64], clusters: Sequence[Hashable]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Per cluster and column: the sum of the known values, and how many there are."""
    number_of: dict[Hashable, int] = {}
    numbers = np.array([number_of.setdefault(cluster, len(number_of)) for cluster in clusters], dtype=np.int64)
    known = ~np.isnan(table)
    sums = np.zeros((len(number_of), table.shape[1]))
    counts = np.zeros_like(sums)
    np.add.at(sums, numbers, np.where(known, table, 0.0))
    np.add.at(counts, numbers, known)
    return sums, counts


def _resampled_means(
    sums: NDArray[np.float64], counts: NDArray[np.float64], seed: int, draws: int
) -> NDArray[np.float64]:
    """Shape (draws, columns); NaN where a draw has no known value."""
    size = len(sums)
    rows = max(1, min(draws, _BLOCK // max(size, 1)))
    means = []
    for block in range(math.ceil(draws / rows) if size else 0):
        weights = _weights(seed, size, rows, block)
        with np.errstate(invalid="ignore", divide="ignore"):
            means.append((weights @ sums) / (weights @ counts))
    return np.concatenate(means)[:draws] if means else np.empty((0, sums.shape[1]))


@lru_cache(maxsize=2)
def _weights(seed: int, size: int, rows: int, block: int) -> NDArray[np.float64]:
    """How often each of `size` clusters is drawn, shape (rows, size); kept, since most tables have equally many."""
    random = generator(seed, "bootstrap", size, block)
    drawn = random.integers(0, size, size=(rows, size)) + np.arange(rows)[:, None] * size
    return np.bincount(drawn.ravel(), minlength=rows * size).reshape(rows, size).astype(np.float64)
