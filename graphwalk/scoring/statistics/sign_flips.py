"""A permutation test of paired differences that treats graphs, not tasks, as what was drawn."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphwalk.scoring.statistics.outcomes import Outcomes, Table, sums_by
from graphwalk.seeds import generator

MOST_GRAPHS_EXACT = 16
"""All 2^C assignments of signs are tried up to here."""
DRAWS = 9_999
_BLOCK = 4_000_000
"""Sums held at a time."""


@dataclass(frozen=True, slots=True)
class SignFlips:
    """`p_value`: how often flipping the signs of whole graphs gives a total at least as far from 0, ties counted in
    full: never too small. `mid_p`: ties counted by half, so that it is right on average in spite of few possible
    totals. `p_by_lot`: ties counted by a share drawn from the seed, so that it is below any level exactly so often, at
    the price that another seed can decide otherwise, even where nothing differs. `clusters`: graphs compared. `draws`:
    random assignments tried; None if all were."""

    p_value: float
    mid_p: float
    p_by_lot: float
    clusters: int
    draws: int | None


def sign_flips(differences: Outcomes, *, seed: int, draws: int = DRAWS) -> list[SignFlips]:
    """Per measure, the two-sided test that neither player is better; `p_value` is 1 where nothing differs.

    Were both players equally good, each graph's difference could as well have had the other sign. The least p that
    five graphs can show is 1/16, six 1/32 (half of it for mid_p). A drawn test counts the seen assignment as one of
    the draws (the "+1" of B. Phipson and G. K. Smyth, 2010).
    """
    groups = int(differences.graphs.max(initial=-1)) + 1
    known = ~np.isnan(differences.values)
    totals = sums_by(differences.graphs, np.where(known, differences.values, 0.0), groups)
    counts = (sums_by(differences.graphs, known.astype(np.float64), groups) > 0).sum(axis=0)
    exact = groups <= MOST_GRAPHS_EXACT
    seen = np.abs(totals.sum(axis=0))
    slack = 1e-9 * np.abs(totals).sum(axis=0)
    beyond, equal, tried = (0.0, 0.0, 0) if exact else (0.0, 1.0, 1)
    for signs in _all_signs(groups) if exact else _drawn_signs(groups, seed, draws):
        for_all = np.abs(signs @ totals)
        further = (for_all > seen + slack).sum(axis=0)
        beyond, equal = beyond + further, equal + (for_all >= seen - slack).sum(axis=0) - further
        tried += len(signs)
    lots = generator(seed, "sign-flips-lots", groups).random(seen.shape)
    columns = zip(*(np.broadcast_to(part, seen.shape).tolist() for part in (beyond, equal, lots, counts)), strict=True)
    return [
        SignFlips((b + e) / tried, (b + e / 2) / tried, (b + e * lot) / tried, c, None if exact else draws)
        for b, e, lot, c in columns
    ]


def _all_signs(groups: int) -> Iterator[Table]:
    """Every assignment of +1 and -1 but for those that turn all signs of another; shape (2^(groups-1), groups)."""
    numbers = np.arange(2 ** max(groups - 1, 0))
    yield _signs((numbers[:, None] >> np.arange(groups)) & 1)


def _drawn_signs(groups: int, seed: int, draws: int) -> Iterator[Table]:
    random = generator(seed, "sign-flips", groups)
    rows = max(1, min(draws, _BLOCK // groups))
    for block in range(math.ceil(draws / rows)):
        yield _signs(random.integers(0, 2, size=(min(rows, draws - block * rows), groups), dtype=np.int8))


def _signs(bits: NDArray[np.signedinteger[Any]]) -> Table:
    return (1 - 2 * bits).astype(np.float64)
