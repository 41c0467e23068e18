"""How strongly two yes/no outcomes of the same cases go together, over strata: odds ratio, interval, exact test."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_Z = 1.959963984540054
"""The 97.5 % point of the standard normal distribution."""
_EQUAL = 1 + 1e-7
"""Probabilities that differ by less are the same."""


class Fourfold(NamedTuple):
    """Cases of one stratum, counted by two outcomes."""

    both: int
    first_only: int
    second_only: int
    neither: int

    @property
    def cases(self) -> int:
        return sum(self)


class OddsRatio(NamedTuple):
    value: float
    low: float
    high: float


def mantel_haenszel(strata: Sequence[Fourfold]) -> OddsRatio | None:
    """The common odds ratio of the strata with its 95 % interval; None where it is 0, infinite or undefined.

    N. Mantel and W. Haenszel, "Statistical aspects of the analysis of data from retrospective studies of disease",
    JNCI 22 (1959); variance of the logarithm: J. Robins, N. Breslow and S. Greenland, Biometrics 42 (1986).
    """
    table = np.array([stratum for stratum in strata if stratum.cases], dtype=np.float64).reshape(-1, 4)
    a, b, c, d = table.T
    n = table.sum(axis=1)
    concordant, discordant = a * d / n, b * c / n
    r, s = concordant.sum(), discordant.sum()
    if not r or not s:
        return None
    agree, differ = (a + d) / n, (b + c) / n
    variance = (
        (agree @ concordant) / (2 * r * r)
        + (agree @ discordant + differ @ concordant) / (2 * r * s)
        + (differ @ discordant) / (2 * s * s)
    )
    value, spread = float(r / s), math.exp(_Z * math.sqrt(variance))
    return OddsRatio(value, value / spread, value * spread)


def exact_p_value(strata: Sequence[Fourfold]) -> float | None:
    """Two-sided p-value of no association within any stratum; None where every stratum allows one outcome only.

    The permutation test over the cases of each stratum, with all permutations in place of a sample of them: given its
    margins `both` is hypergeometric, and their sum is the statistic. It adds up what is no more probable than the
    observed sum. For a single stratum it is Fisher's exact test. (A. Agresti, "Categorical Data Analysis", 6.7.1.)
    """
    lowest, probabilities = 0, np.ones(1)
    for stratum in strata:
        start, of_stratum = _hypergeometric(stratum)
        lowest += start
        probabilities = np.convolve(probabilities, of_stratum)
    if len(probabilities) == 1:
        return None
    observed = probabilities[sum(stratum.both for stratum in strata) - lowest]
    return min(1.0, float(probabilities[probabilities <= observed * _EQUAL].sum()))


def _hypergeometric(stratum: Fourfold) -> tuple[int, NDArray[np.float64]]:
    """The lowest possible count of `both` given the margins, and the probability of each count from there."""
    cases, first, second = stratum.cases, stratum.both + stratum.first_only, stratum.both + stratum.second_only
    low, high = max(0, first + second - cases), min(first, second)
    logs = np.array([_log_choose(first, k) + _log_choose(cases - first, second - k) for k in range(low, high + 1)])
    return low, np.exp(logs - _log_choose(cases, second))


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
