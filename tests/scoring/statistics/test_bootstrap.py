import numpy as np
import pytest

from graphwalk.scoring.statistics import Interval, cluster_bootstrap


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
