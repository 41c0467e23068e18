"""How often any sign-flip test of two equal players can reject: python -m benchmarks.reachable_levels

Given how large the differences of graphs are, the signs leave only a few levels. Printed is the largest one up to 1/16,
averaged over experiments: no such test without a drawn tie-break rejects more often, unless its level exceeds 1/16.
"""

from itertools import product

import numpy as np
from numpy.typing import NDArray

from benchmarks.clustered_outcomes import Cell, latent_normal
from graphwalk.seeds import generator

MOST = 1 / 16


def reachable_level(totals: NDArray[np.int64]) -> float:
    """The largest level up to 1/16 for the differences of some graphs, shape (graphs,)."""
    signs = 1 - 2 * ((np.arange(2 ** (len(totals) - 1))[:, None] >> np.arange(len(totals))) & 1)
    distances, counts = np.unique(np.abs(signs @ totals), return_counts=True)
    levels = counts[::-1].cumsum()[distances[::-1] > 0] / len(signs)
    return float(levels[levels <= MOST].max(initial=0))


def main() -> None:
    for levels in product((5, 10), (0.0, 0.1, 0.3), (1, 4), (0.1, 0.5, 0.95)):
        cell = Cell(*levels)
        random = generator(0, "reachable levels", str(cell))
        first, second = latent_normal(cell, random, 1_000, cell.accuracy, cell.accuracy)
        totals = np.rint((first - second).reshape(cell.graphs, -1, 1_000).sum(axis=1)).astype(np.int64)
        reached = np.mean([reachable_level(each) for each in totals.T])
        print(*(f"{level:g}" for level in levels), f"{100 * reached:.1f}", sep="\t", flush=True)


if __name__ == "__main__":
    main()
