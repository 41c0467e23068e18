import math
import time

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from graphwalk.scoring.statistics import estimate_means, estimate_shares, outcomes_of


def miller_error(values, graphs):
    """The clustered standard error as the double sum of Miller (2024), with the factor C/(C-1)."""
    mean, n = values.mean(), len(values)
    total = sum((values[i] - mean) * (values[j] - mean) for i in range(n) for j in range(n) if graphs[i] == graphs[j])
    count = len(set(graphs))
    return math.sqrt(count / (count - 1) * total) / n


def test_standard_error_is_the_clustered_one():
    random = np.random.default_rng(0)
    values, graphs = random.random(40), random.integers(0, 7, 40).tolist()
    for estimate in (*estimate_means(outcomes_of(values, graphs)), *estimate_shares(outcomes_of(values, graphs))):
        assert estimate.error == pytest.approx(miller_error(values, graphs))


def test_one_task_per_graph_is_the_t_interval_of_every_textbook():
    values = np.random.default_rng(2).normal(5, 2, 12)
    (estimate,) = estimate_means(outcomes_of(values, range(12)))
    expected = stats.t.interval(0.95, 11, loc=values.mean(), scale=stats.sem(values))
    assert (estimate.low, estimate.high) == pytest.approx(expected)
    assert estimate.df == 11


def test_copied_repeats_change_nothing():
    random = np.random.default_rng(3)
    values, graphs, tasks = random.integers(0, 2, 60) * 1.0, np.repeat(range(6), 10).tolist(), list(range(60))
    once, copied = outcomes_of(values, graphs, tasks), outcomes_of(np.tile(values, 4), graphs * 4, tasks * 4)
    assert estimate_means(once) == estimate_means(copied)
    assert estimate_shares(once) == estimate_shares(copied)


def test_a_graph_that_holds_most_tasks_leaves_few_degrees_of_freedom():
    graphs = ["large"] * 60 + [number for number in range(9) for _ in range(2)]
    (estimate,) = estimate_shares(outcomes_of(np.arange(78) % 2, graphs))
    assert (estimate.clusters, estimate.df) == (10, 1)
    even = estimate_shares(outcomes_of(np.arange(120) % 3 > 0, np.repeat(range(10), 12).tolist()))
    assert even[0].df == 9


def test_half_is_wilson_with_the_effective_number_and_t():
    values = np.repeat([[1, 1, 1, 0], [1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1], [0, 0, 0, 0]], 3, axis=1).ravel()
    (estimate,) = estimate_shares(outcomes_of(values, np.repeat(range(5), 12).tolist()))
    assert estimate.value == 0.5
    effective, t = 0.25 / estimate.error**2, stats.t.ppf(0.975, 4)
    half = t * math.sqrt(0.25 / effective + t**2 / (4 * effective**2)) / (1 + t**2 / effective)
    assert (estimate.low, estimate.high) == pytest.approx((0.5 - half, 0.5 + half))


def test_all_right_is_not_taken_for_certain():
    (estimate,) = estimate_shares(outcomes_of(np.ones(60), np.repeat(range(5), 12).tolist()))
    assert (estimate.low, estimate.high) == (pytest.approx(0.69, abs=0.02), 1.0)
    assert estimate.low < stats.beta.ppf(0.025, 60.5, 0.5)
    assert estimate.reason == ""


def test_no_interval_without_a_reason_in_words():
    known, none = estimate_shares(outcomes_of([[1, np.nan], [0, np.nan]], ["a", "a"]))
    assert (known.value, known.low, known.high, known.n, known.clusters) == (0.5, None, None, 2, 1)
    assert known.reason == "all tasks are on one graph"
    assert (none.value, none.n, none.reason) == (None, 0, "nothing is known")
    (flat,) = estimate_means(outcomes_of([0.1] * 9, [0, 0, 0, 1, 1, 1, 2, 2, 2]))
    assert (flat.value, flat.low, flat.df) == (pytest.approx(0.1), None, None)
    assert flat.reason == "all graphs have the same mean"


@pytest.mark.parametrize("estimate", [estimate_means, estimate_shares])
def test_nothing_at_all(estimate):
    (none,) = estimate(outcomes_of([], []))
    assert none.reason == "nothing is known"
    assert estimate(outcomes_of(np.empty((3, 0)), ["a", "b", "c"])) == []


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4), st.sampled_from([0.0, 1.0])), min_size=1, max_size=60))
@example([(0, 0, 0.0), (0, 1, 1.0), *[(1, 0, 0.0)] * 3, (1, 0, 1.0), (1, 1, 0.0), (1, 1, 0.0), (1, 1, 1.0)])
def test_intervals_hold_the_share_and_mirror(episodes):
    graphs, tasks, values = zip(*episodes, strict=True)
    (right,) = estimate_shares(outcomes_of(values, graphs, tasks))
    (wrong,) = estimate_shares(outcomes_of([1 - value for value in values], graphs, tasks))
    assert (right.low is None) == bool(right.reason) == (right.clusters < 2)
    if right.low is not None:
        assert 0 <= right.low <= right.value + 1e-12
        assert right.value - 1e-12 <= right.high <= 1
        assert (right.low, right.high) == pytest.approx((1 - wrong.high, 1 - wrong.low), abs=1e-9)


def test_other_units():
    (estimate,) = estimate_shares(outcomes_of([1, 0, 1, 1], ["a", "a", "b", "b"]))
    percent = estimate.scaled(100)
    assert (percent.value, percent.low, percent.high) == (75, 100 * estimate.low, 100 * estimate.high)
    assert (percent.n, percent.clusters, percent.df) == (estimate.n, estimate.clusters, estimate.df)
    assert percent.error == 100 * estimate.error
    (alone,) = estimate_shares(outcomes_of([1, 0], ["a", "a"]))
    assert (alone.scaled(100).value, alone.scaled(100).low, alone.scaled(100).error) == (50, None, None)


def test_ten_thousand_episodes_and_twenty_measures_take_well_under_a_second():
    values = np.random.default_rng(0).random((10_000, 20))
    graphs, tasks = [f"g{i // 48}" for i in range(10_000)], [f"t{i // 4}" for i in range(10_000)]
    begun = time.process_time()
    outcomes = outcomes_of(values, graphs, tasks)
    assert len(estimate_shares(outcomes)) + len(estimate_means(outcomes)) == 40
    assert time.process_time() - begun < 1


def test_whether_graphs_differ_is_judged_by_the_size_of_each_measure():
    values = [[0, 1e15, 1e-13, 0.1], [1, 3e15, 3e-13, 0.1], [0, 2e15, 2e-13, 0.1], [1, 1e15, np.nan, np.nan]]
    found = estimate_means(outcomes_of(values, "abcd"))
    assert [one.reason for one in found] == ["", "", "", "all graphs have the same mean"]
    assert [(one.n, one.clusters) for one in found] == [(4, 4), (4, 4), (3, 3), (3, 3)]
    (alone,) = estimate_means(outcomes_of([1e-13, 3e-13, 2e-13], "abc"))
    assert (found[2].value, found[2].low, found[2].error) == pytest.approx((alone.value, alone.low, alone.error))
