"""Wilson's score interval of a share, for any number of trials and any quantile."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


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
