import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphwalk.scoring.statistics import Interval, cluster_bootstrap, mcnemar_exact, wilson_interval


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
    assert wilson_interval(successes, trials) == pytest.approx((low, high), abs=5e-5)


def test_wilson_of_nothing():
    assert wilson_interval(0, 0) is None


@given(st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_share(case):
    successes, trials = case
    interval = wilson_interval(successes, trials)
    assert interval is not None
    assert 0 <= interval.low <= successes / trials <= interval.high <= 1


@pytest.mark.parametrize(
    ("first", "second", "p"),
    [
        (0, 0, 1.0),
        (5, 5, 1.0),
        (0, 5, 0.0625),
        (1, 9, 22 / 1024),
        (10, 0, 2 / 1024),
        (2, 8, 112 / 1024),
        (6, 16, 0.0524788),
    ],
)
def test_mcnemar_against_binomial_tables(first, second, p):
    assert mcnemar_exact(first, second) == pytest.approx(p, rel=1e-5)
    assert mcnemar_exact(second, first) == mcnemar_exact(first, second)


def test_mcnemar_of_many_pairs():
    assert mcnemar_exact(50_000, 50_000) == 1.0
    assert mcnemar_exact(0, 100_000) == 0.0


def test_bootstrap_of_independent_values_has_the_textbook_width():
    values = np.random.default_rng(1).normal(5, 2, size=900)
    (interval,) = cluster_bootstrap(values, range(900), seed=1)
    assert interval is not None
    assert interval.high - interval.low == pytest.approx(2 * 1.96 * values.std() / 30, rel=0.1)
    assert interval.low < values.mean() < interval.high


def test_values_that_go_together_by_graph_have_a_wider_interval():
    graphs = np.repeat(np.arange(10), 12)
    values = graphs % 2.0
    (clustered,), (loose,) = cluster_bootstrap(values, graphs.tolist(), 0), cluster_bootstrap(values, range(120), 0)
    assert clustered is not None
    assert loose is not None
    assert clustered.high - clustered.low > 2.5 * (loose.high - loose.low)


def test_the_same_seed_gives_the_same_interval():
    values, clusters = np.arange(60) ** 1.5, [number // 2 for number in range(60)]
    assert cluster_bootstrap(values, clusters, 3) == cluster_bootstrap(values, clusters, 3)
    assert cluster_bootstrap(values, clusters, 3) != cluster_bootstrap(values, clusters, 4)


def test_unknown_values_are_left_out():
    table = [[1.0, np.nan], [1.0, np.nan], [1.0, 5.0]]
    assert cluster_bootstrap(table, ["a", "b", "c"], 0) == [Interval(1.0, 1.0), None]


def test_one_graph_tells_nothing_about_the_spread():
    assert cluster_bootstrap([1.0, 2.0], ["a", "a"], 0) == [None]
    assert cluster_bootstrap(np.empty((0, 2)), [], 0) == [None, None]
    assert cluster_bootstrap(np.empty((3, 0)), ["a", "b", "c"], 0) == []
