"""Odds ratio and exact test against published values, formulas for one stratum, and all permutations counted out."""

from collections import Counter
from itertools import permutations, product
from math import exp, sqrt

import pytest

from graphwalk.seeds import generator
from graphwalk.suites.magma.matrices import Fourfold, exact_p_value, mantel_haenszel

BERKELEY = [
    Fourfold(512, 313, 89, 19),
    Fourfold(353, 207, 17, 8),
    Fourfold(120, 205, 202, 391),
    Fourfold(138, 279, 131, 244),
    Fourfold(53, 138, 94, 299),
    Fourfold(22, 351, 24, 317),
]
"""Admissions by sex in six departments (P. J. Bickel, E. A. Hammel and J. W. O'Connell, Science 187, 1975)."""


def test_the_common_odds_ratio_of_the_berkeley_admissions() -> None:
    """As R's `mantelhaen.test(UCBAdmissions)` gives it."""
    assert mantel_haenszel(BERKELEY) == pytest.approx((0.9046968, 0.7719074, 1.0603298), abs=1e-7)


def test_one_stratum_has_the_plain_odds_ratio_with_woolfs_interval() -> None:
    ratio = mantel_haenszel([Fourfold(10, 4, 3, 12)])
    spread = exp(1.959963984540054 * sqrt(1 / 10 + 1 / 4 + 1 / 3 + 1 / 12))
    assert ratio == pytest.approx((10, 10 / spread, 10 * spread))


@pytest.mark.parametrize(
    ("stratum", "p"),
    [(Fourfold(3, 1, 1, 3), 0.4857142857142857), (Fourfold(8, 2, 1, 5), 0.03496503496503495)],
)
def test_one_stratum_has_fishers_p_value(stratum: Fourfold, p: float) -> None:
    """The lady tasting tea, and the example of scipy's `fisher_exact`."""
    assert exact_p_value([stratum]) == pytest.approx(p)


@pytest.mark.parametrize(
    "strata",
    [
        [Fourfold(2, 1, 0, 3), Fourfold(1, 0, 1, 2)],
        [Fourfold(1, 1, 2, 1), Fourfold(2, 0, 0, 2)],
        [Fourfold(3, 0, 0, 2), Fourfold(0, 4, 0, 0)],
    ],
)
def test_it_is_the_permutation_test_with_all_permutations(strata: list[Fourfold]) -> None:
    sums: Counter[int] = Counter()
    for chosen in product(*(_all_counts(stratum) for stratum in strata)):
        sums[sum(chosen)] += 1
    seen = sums[sum(stratum.both for stratum in strata)]
    extreme = sum(count for count in sums.values() if count <= seen)
    assert exact_p_value(strata) == pytest.approx(extreme / sums.total())


def _all_counts(stratum: Fourfold) -> list[int]:
    """`both` in every permutation of the second outcomes."""
    both, first_only, second_only, neither = stratum
    first = [True] * (both + first_only) + [False] * (second_only + neither)
    second = [True] * both + [False] * first_only + [True] * second_only + [False] * neither
    return [sum(a and b for a, b in zip(first, drawn, strict=True)) for drawn in permutations(second)]


def test_a_difference_between_strata_is_no_association() -> None:
    """Pooled, easy and hard sizes make the outcomes go together; within a size they do not."""
    easy, hard = Fourfold(16, 4, 4, 1), Fourfold(1, 4, 4, 16)
    assert exact_p_value([easy, hard]) == pytest.approx(1)
    ratio = mantel_haenszel([easy, hard])
    assert ratio is not None
    assert ratio.low < ratio.value == 1 < ratio.high
    pooled = Fourfold(*(a + b for a, b in zip(easy, hard, strict=True)))
    p = exact_p_value([pooled])
    assert p is not None
    assert p < 0.05


def test_it_rejects_no_more_than_it_says() -> None:
    """Independent outcomes in three strata of 30 traces: at most 5 % of p-values below 0.05, give or take chance."""
    draw = generator(1, "test.association")
    rejected = 0
    for _ in range(400):
        strata = []
        for chance in (0.3, 0.5, 0.8):
            first, second = draw.random((2, 30)) < chance
            cells = (first & second, first & ~second, second & ~first, ~first & ~second)
            strata.append(Fourfold(*(int(cell.sum()) for cell in cells)))
        p = exact_p_value(strata)
        rejected += p is not None and p < 0.05
    assert 4 <= rejected <= 30


@pytest.mark.parametrize("strata", [[], [Fourfold(0, 0, 0, 0)], [Fourfold(5, 0, 3, 0)], [Fourfold(4, 0, 0, 0)]])
def test_nothing_to_tell(strata: list[Fourfold]) -> None:
    assert mantel_haenszel(strata) is None
    assert exact_p_value(strata) is None


def test_an_infinite_odds_ratio_has_a_p_value() -> None:
    assert mantel_haenszel([Fourfold(3, 0, 0, 3)]) is None
    assert exact_p_value([Fourfold(3, 0, 0, 3)]) == pytest.approx(0.1)
