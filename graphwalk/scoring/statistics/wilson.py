"""Wilson's score interval of a share, for any number of trials and any quantile."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

_Z = 1.959963984540054
"""The 97.5 % point of the standard normal distribution."""


class Interval(NamedTuple):
    low: float
    high: float

    def scaled(self, factor: float) -> "Interval":
        return Interval(self.low * factor, self.high * factor)


def wilson_bounds(
    share: ArrayLike, trials: ArrayLike, quantile: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower and upper bounds of shares in 0 … 1, element by element; `trials` need not be whole, and is above 0.

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927):
    (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n).
    """
    p, n, z = (np.asarray(value, dtype=np.float64) for value in (share, trials, quantile))
    centre = p + z**2 / (2 * n)
    spread = z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    scale = 1 + z**2 / n
    return np.where(p == 0, 0.0, (centre - spread) / scale), np.where(p == 1, 1.0, (centre + spread) / scale)


def wilson_interval(successes: int, trials: int) -> Interval | None:
    """95 % interval of a proportion of independent trials, in 0 … 1; None without trials."""
    if trials == 0:
        return None
    low, high = wilson_bounds(successes / trials, trials, _Z)
    return Interval(float(low), float(high))
