"""Student's t distribution: tail probabilities and quantiles, good to 1e-9 from 1 to 100,000 degrees of freedom."""

import math
from functools import lru_cache

_PRECISION = 1e-15
_MOST_TERMS = 20_000


def t_two_sided(t: float, df: float) -> float:
    """The probability that |T| is at least |t|, with `df` degrees of freedom; `t` may be infinite."""
    if math.isinf(t):
        return 0.0
    squared = t * t
    return _incomplete_beta(df / 2, 0.5, df / (df + squared), squared / (df + squared))


@lru_cache(maxsize=4096)
def t_quantile(probability: float, df: float) -> float:
    """The t below which `probability` (between 0 and 1) lies, with `df` degrees of freedom, at least 1.

    Newton's method on the tail, kept between bounds that halve whenever a step leaves them.
    """
    if probability < 0.5:
        return -t_quantile(1 - probability, df)
    tail = 2 * (1 - probability)
    low, high = 0.0, 1.0
    while t_two_sided(high, df) > tail:
        low, high = high, 2 * high
    t = high
    for _ in range(200):
        excess = t_two_sided(t, df) - tail
        low, high = (t, high) if excess > 0 else (low, t)
        step = t + excess / (2 * _density(t, df))
        following = step if low < step < high else (low + high) / 2
        if abs(following - t) <= 1e-14 * following:
            return following
        t = following
    return t


def _density(t: float, df: float) -> float:
    log = -_log_beta(df / 2, 0.5) - math.log(df) / 2 - (df + 1) / 2 * math.log1p(t * t / df)
    return math.exp(log)


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def _incomplete_beta(a: float, b: float, x: float, rest: float) -> float:
    """The regularised incomplete beta function I_x(a, b); `rest` is 1 - x, given since it may be tiny."""
    if x <= 0 or rest <= 0:
        return 0.0 if x <= 0 else 1.0
    front = math.exp(a * math.log(x) + b * math.log(rest) - _log_beta(a, b))
    if x < (a + 1) / (a + b + 2):
        return front * _continued_fraction(a, b, x) / a
    return 1 - front * _continued_fraction(b, a, rest) / b


def _continued_fraction(a: float, b: float, x: float) -> float:
    """Abramowitz and Stegun 26.5.8, evaluated forwards by Lentz's method."""
    numerator, denominator = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    value = denominator
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            denominator = 1 / (1 + term * denominator)
            numerator = 1 + term / numerator
            value *= denominator * numerator
        if abs(denominator * numerator - 1) < _PRECISION:
            break
    return value
