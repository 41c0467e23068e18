"""Bounds of a share by Bayes: graphs have rates of their own, beta distributed; how differently is not known."""

import math

import numpy as np
from numpy.typing import NDArray

from graphwalk.scoring.statistics.outcomes import Table

SHARE_PRIOR = 0.8
"""The share is Beta(0.8, 0.8) beforehand: between the ½ of Jeffreys and the uniform 1."""
UNCORRELATED = 0.2
"""The chance, beforehand, that graphs do not differ at all; else their correlation is anything from 0 to 1."""
_CORRELATIONS = 20
_PARTS = 4
"""Successes are rounded to a fourth of a trial, so that graphs and measures have them in common."""


def posterior_bounds(shares: Table, trials: Table, powers: Table, tails: Table) -> tuple[Table, Table]:
    """The share below which, and the one above which, `tails` of the posterior lies; each of shape (measures,).

    The others have shape (graphs, measures): the share of successes in each graph, the trials it stands for (rounded
    to whole ones), and the power to which its likelihood is raised (1: counted once).

    With k of n successes in a graph, the likelihood is B(α+k, β+n-k) / B(α, β), α = pM, β = (1-p)M, M = (1-ρ)/ρ, as in
    J. G. Skellam's beta-binomial distribution (JRSS B 10, 1948). It is summed over a grid of p and ρ.
    """
    whole = np.rint(trials)
    right = np.rint(np.round(_PARTS * shares * whole, 9))  # a half is a half for p and for 1 - p
    wrong = _PARTS * whole - right
    edges = _edges(float(whole.sum(axis=0).max(initial=0)))
    centres = (edges[1:] + edges[:-1]) / 2
    correlations, log_prior = _prior(centres)
    both = (1 - correlations) / correlations
    levels, rows = np.unique(np.stack([right, wrong]), return_inverse=True)
    of_right, of_wrong = rows.reshape(2, *right.shape)
    rising = _log_rising(np.sin(centres)[:, None] ** 2 * both, levels / _PARTS)
    sizes, of_size = np.unique(whole, return_inverse=True)
    scale = _log_rising(both[None], sizes)
    low, high = np.empty(shares.shape[1]), np.empty(shares.shape[1])
    for column, (k, rest, n) in enumerate(zip(of_right.T, of_wrong.T, of_size.reshape(right.shape).T, strict=True)):
        # Thousands of graphs have few different numbers, so that their powers are added up first.
        of_k, of_rest, of_n = (
            np.bincount(graphs, powers[:, column], size)
            for graphs, size in ((k, len(levels)), (rest, len(levels)), (n, len(sizes)))
        )
        log = log_prior + np.tensordot(of_k, rising, 1) - np.tensordot(of_n, scale, 1)
        log += np.tensordot(of_rest, rising, 1)[::-1]  # the failures' share is 1 - p: the same grid backwards
        density = np.exp(log - log.max()).sum(axis=1)
        below = np.concatenate([[0.0], density.cumsum()]) / density.sum()
        low[column], high[column] = np.sin(np.interp([tails[column], 1 - tails[column]], below, edges)) ** 2
    return low, high


def _edges(trials: float) -> Table:
    """Cells of equal width in arcsin √p, the scale on which any share is known to 1 / (2 √trials)."""
    cells = 2 * math.ceil(min(max(math.pi * math.sqrt(trials), 64), 256) / 2)
    return np.linspace(0, math.pi / 2, cells + 1)


def _prior(centres: Table) -> tuple[Table, Table]:
    """Correlations, dense near 0, and the logarithm of the prior, shape (cells of p, correlations)."""
    roots = (np.arange(_CORRELATIONS) + 0.5) / _CORRELATIONS
    weights = np.append((1 - UNCORRELATED) * roots / roots.sum(), UNCORRELATED)
    of_share = (2 * SHARE_PRIOR - 1) * np.log(np.sin(centres) * np.cos(centres))
    return np.append(roots**2, 1e-4), of_share[:, None] + np.log(weights)


def _log_rising(start: Table, steps: Table) -> Table:
    """log Γ(start + steps) - log Γ(start), for every step: shape (steps, *start)."""
    return _log_gamma(start + steps.reshape(-1, *[1] * start.ndim)) - _log_gamma(start)


def _log_gamma(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Stirling's series six steps further on (Abramowitz and Stegun 6.1.41, 6.1.15); right to 1e-8 for x above 0."""
    passed = x * (x + 1) * (x + 2) * (x + 3) * (x + 4) * (x + 5)
    y = x + 6
    series = 1 / (12 * y) - 1 / (360 * y**3) + 1 / (1260 * y**5)
    return np.asarray((y - 0.5) * np.log(y) - y + math.log(2 * math.pi) / 2 + series - np.log(passed))
