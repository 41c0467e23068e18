import pytest
from scipy import stats

from graphwalk.scoring.statistics.student import t_quantile, t_two_sided

DEGREES = [1, 1.5, 2, 3, 4, 4.7, 9, 29, 100, 1_000, 12_345, 100_000]


@pytest.mark.parametrize("df", DEGREES)
@pytest.mark.parametrize("probability", [0.0005, 0.025, 0.5, 0.5001, 0.8, 0.95, 0.975, 0.995, 0.9999, 0.999999])
def test_quantiles_as_by_scipy(df, probability):
    assert t_quantile(probability, df) == pytest.approx(stats.t.ppf(probability, df), rel=1e-9, abs=1e-11)


@pytest.mark.parametrize("df", DEGREES)
@pytest.mark.parametrize("t", [0.0, 1e-6, 0.3, -1.0, 2.0, 7.5, 40.0])
def test_tails_as_by_scipy(df, t):
    assert t_two_sided(t, df) == pytest.approx(2 * stats.t.sf(abs(t), df), rel=1e-9, abs=1e-300)


def test_nothing_lies_beyond_infinity():
    assert t_two_sided(float("-inf"), 3) == 0.0
