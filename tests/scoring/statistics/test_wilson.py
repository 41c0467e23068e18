import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphwalk.scoring.statistics.wilson import wilson_bounds

Z = 1.959963984540054


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),  # Newcombe, Statistics in Medicine 17 (1998), table I
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (29, 29, 0.8830, 1.0),
    ],
)
def test_wilson_as_published(successes, trials, low, high):
    assert wilson_bounds(successes / trials, trials, Z) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_share(case):
    successes, trials = case
    low, high = wilson_bounds(successes / trials, trials, Z)
    assert 0 <= low <= successes / trials <= high <= 1
