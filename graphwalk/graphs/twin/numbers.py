"""Numbers of a property in place of its own: in the same order, of the same kinds, and as many of each."""

import math
from collections.abc import Iterable

import numpy as np

from graphwalk.types.values import Value

_MOST = 2**53
"""Whole numbers up to here are the same in every program. Larger ones are drawn closer together."""
_MOST_DIGITS = 6
_SMALL_GAP = 4


def number_map(values: Iterable[Value], rng: np.random.Generator) -> dict[int | float, int | float]:
    """Every finite number → another, strictly growing: whole numbers stay whole, other numbers keep their decimals.

    1 and 1.0 are one number. Gaps between neighbours grow or shrink at random by up to half, small ones by some units,
    so that the shape of the distribution stays and sums and differences mean nothing.
    """
    found = sorted({v for v in values if isinstance(v, int | float) and not isinstance(v, bool) and math.isfinite(v)})
    if not found:
        return {}
    digits = max(map(_decimals, found))
    shrink = min(1.0, _MOST / max(1.0, 4.0 * max(abs(found[0]), abs(found[-1]))))
    span = float(found[-1] - found[0]) or max(1.0, abs(found[0]))
    made: dict[int | float, int | float] = {}
    last: int | float = math.floor(shrink * (found[0] + rng.uniform(-0.5, 0.5) * span))
    before = found[0]
    for number in found:
        last = _above(last, _gap(number - before, rng) * shrink, number, digits)
        made[number], before = last, number
    return made


def of_kind(value: int | float, made: int | float) -> int | float:
    """The new number as the kind of the one that it stands for."""
    return float(made) if isinstance(value, float) else int(made)


def _gap(gap: float, rng: np.random.Generator) -> float:
    return gap + float(rng.integers(0, 3)) if gap < _SMALL_GAP else gap * rng.uniform(0.5, 1.5)


def _above(last: int | float, gap: float, number: int | float, digits: int) -> int | float:
    """A number above `last`, whole exactly where `number` is."""
    if float(number).is_integer():
        return math.floor(last) + max(1, round(gap))
    made = round(float(last + gap), digits)
    while made <= last or made.is_integer():
        made = round(made + 10.0**-digits, digits) if made + 10.0**-digits > made else math.nextafter(made, math.inf)
    return made


def _decimals(number: int | float) -> int:
    """Decimals of a number as it is written, at least 1."""
    _, _, decimals = repr(number).partition(".")
    return min(_MOST_DIGITS, max(1, len(decimals))) if decimals.isdecimal() else _MOST_DIGITS
