"""Random draws for which numpy has no fast function: distinct integers from a huge range, counts with a given mean."""

import numpy as np
from numpy.typing import NDArray


def distinct_integers(rng: np.random.Generator, total: int, count: int) -> NDArray[np.int64]:
    """`count` distinct integers from 0 … total-1, every set equally likely, ascending. Memory O(count)."""
    if count == 0:
        return np.empty(0, dtype=np.int64)
    if count > total // 2:
        kept = np.ones(total, dtype=bool)
        kept[distinct_integers(rng, total, total - count)] = False
        return np.flatnonzero(kept).astype(np.int64)
    drawn = np.empty(0, dtype=np.int64)
    while True:
        drawn = np.concatenate([drawn, rng.integers(0, total, count + count // 8 + 8)])
        values, first = np.unique(drawn, return_index=True)
        if len(values) >= count:
            # The first `count` distinct ones in the order of drawing: the smallest would not be a fair sample.
            return np.sort(values[np.argsort(first)[:count]])


def counts_with_mean(rng: np.random.Generator, mean: float, length: int) -> list[int]:
    """`length` counts of at least one, whose sum is the whole number nearest to mean · length."""
    spare = max(0, round(mean * length) - length)
    counts: list[int] = (1 + np.bincount(rng.integers(0, length, spare), minlength=length)).tolist()
    return counts
