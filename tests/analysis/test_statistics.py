"""Intervals and tests against textbook formulas, scipy and direct sums."""

import math
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from graphwalk.analysis.statistics import (
    compare,
    estimate_means,
    estimate_shares,
    holm,
    least_p_value,
    sign_flips,
    tasks_of,
    units_needed,
)

BY = ["model", "setting"]


def tasks(values: Any, graphs: Any, names: Any = None, model: str = "first") -> pl.DataFrame:
    """The tasks of a player, or of several; without names, every episode is a task."""
    task_ids = range(len(values)) if names is None else names
    frame = pl.DataFrame({"value": values, "graph": list(graphs), "task_id": list(task_ids)}, strict=False)
    identified = frame.with_columns(
        pl.col("value").cast(pl.Float64), pl.format("{} {}", "graph", "task_id").alias("question")
    )
    return tasks_of(identified.with_columns(model=pl.lit(model), setting=pl.lit("")), BY, ["value"])


def mean(frame: pl.DataFrame) -> SimpleNamespace:
    return SimpleNamespace(**estimate_means(frame, BY, ["value"]).row(0, named=True))


def share(frame: pl.DataFrame) -> SimpleNamespace:
    return SimpleNamespace(**estimate_shares(frame, BY, ["value"]).row(0, named=True))


def comparisons(first: pl.DataFrame, second: pl.DataFrame) -> list[SimpleNamespace]:
    both = pl.concat([first, second.with_columns(model=pl.lit("second"))])
    pair = pl.DataFrame({"first_model": "first", "first_setting": "", "second_model": "second", "second_setting": ""})
    return [SimpleNamespace(**row) for row in compare(both, pair, ["value"], seed=0).to_dicts()]


def test_repeats_are_averaged_so_that_each_task_counts_once():
    averaged = tasks([1, 0, 1, 1, None, 0], ["a", "a", "a", "b", "b", "b"], [1, 1, 2, 1, 1, 2])
    assert averaged.select("graph", "task_id", "value").rows() == [("a", 1, 0.5), ("a", 2, 1), ("b", 1, 1), ("b", 2, 0)]


def miller_error(values, graphs):
    """The clustered standard error as the double sum of Miller (2024), with the factor C/(C-1)."""
    mean, n = values.mean(), len(values)
    total = sum((values[i] - mean) * (values[j] - mean) for i in range(n) for j in range(n) if graphs[i] == graphs[j])
    count = len(set(graphs))
    return math.sqrt(count / (count - 1) * total) / n


def test_standard_error_is_the_clustered_one():
    random = np.random.default_rng(0)
    values, graphs = random.random(40), random.integers(0, 7, 40).tolist()
    for estimate in (mean, share):
        assert estimate(tasks(values, graphs)).error == pytest.approx(miller_error(values, graphs))


def test_no_interval_without_a_reason_in_words():
    one = share(tasks([1], ["a"]))
    assert (one.value, one.low, one.high, one.n, one.clusters) == (1, None, None, 1, 1)
    assert one.reason == "only one question is known"
    none = share(tasks([None], ["a"]))
    assert (none.value, none.n, none.reason) == (None, 0, "nothing is known")
    elsewhere = share(tasks([1, 0, None], ["a", "a", "b"]))
    assert (elsewhere.low, elsewhere.reason) == (None, "only one graph is known")


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4), st.sampled_from([0.0, 1.0])), min_size=1, max_size=60))
@example([(0, 0, 0.0), (0, 1, 1.0), *[(1, 0, 0.0)] * 3, (1, 0, 1.0), (1, 1, 0.0), (1, 1, 0.0), (1, 1, 1.0)])
@example([*[(0, 0, 0.0)] * 4, (0, 0, 1.0), (0, 1, 0.0), (0, 1, 0.0), (0, 2, 0.0), (1, 0, 0.0)])
def test_intervals_hold_the_share_and_mirror(episodes):
    graphs, names, values = zip(*episodes, strict=True)
    right = share(tasks(values, graphs, names))
    assert (right.low is None) == bool(right.reason) == (right.clusters < 2)
    if right.low is not None:
        assert 0 <= right.low <= right.value + 1e-12
        assert right.value - 1e-12 <= right.high <= 1
        wrong = share(tasks([1 - value for value in values], graphs, names))
        assert (right.low, right.high) == pytest.approx((1 - wrong.high, 1 - wrong.low), abs=1e-9)


def p_value(differences, graphs=None):
    """The p-value of these differences, by default with one task per graph."""
    frame = tasks(differences, range(len(differences)) if graphs is None else graphs)
    return sign_flips(frame, BY, ["value"], seed=0)["p_value"].item()


def test_only_identical_tasks_are_paired():
    first = tasks([1, 1, 0, 1], ["a", "a", "b", "c"], [1, 2, 1, 1])
    (both,) = comparisons(first, tasks([0, 1, 1], ["b", "a", "a"], [1, 1, 3]))
    assert (both.n, both.clusters, both.unit, both.value, both.equal) == (2, 2, "graph", 0, 2)
    assert both.p_value == 1
    assert comparisons(tasks([1], ["a"]), tasks([1], ["b"])) == []


def test_the_t_test_of_one_task_per_graph_is_that_of_every_textbook():
    first, second = np.random.default_rng(1).random((2, 9))
    (comparison,) = comparisons(tasks(first, range(9)), tasks(second, range(9)))
    expected = stats.ttest_rel(first, second).confidence_interval()
    assert (comparison.low, comparison.high) == pytest.approx(tuple(expected))


def test_every_assignment_of_signs():
    totals = np.array([3.0, -1.0, 2.0, 0.0, 1.5, 4.0])
    all_totals = np.array([abs(np.dot(signs, totals)) for signs in product([1, -1], repeat=6)])
    assert p_value(totals) == ((all_totals > 9.5).mean() + (all_totals >= 9.5).mean()) / 2


@pytest.mark.parametrize(("graphs", "p"), [(5, 1 / 32), (16, 1 / 2**16), (17, 5e-5), (1000, 5e-5)])
def test_signs_of_graphs_are_flipped_all_up_to_sixteen_graphs(graphs: int, p: float) -> None:
    assert p_value([1.0] * 2 * graphs, np.repeat(range(graphs), 2)) == pytest.approx(p)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.sampled_from([0.01, 0.05, 0.2]))
def test_finds_what_the_step_by_step_rule_finds(p_values, alpha):
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    rejected = set()
    for rank, place in enumerate(order):
        if (len(p_values) - rank) * p_values[place] > alpha:
            break
        rejected.add(place)
    assert {place for place, p in enumerate(holm(p_values)) if p <= alpha} == rejected


def test_a_share_has_the_t_interval_with_one_more_graph_that_is_half_right():
    means = np.array([1.0, 0.75, 0.0, 1.0])
    estimate = share(tasks([float(i < 4 * mean) for mean in means for i in range(4)], np.repeat(range(4), 4)))
    expected = stats.ttest_1samp([*means, 0.5], 0).confidence_interval()
    assert estimate.value == means.mean()
    assert (estimate.low, estimate.high) == pytest.approx((max(0, expected.low), min(1, expected.high)))


@pytest.mark.parametrize("right", [0, 1, 13, 24])
def test_on_one_graph_it_is_wilsons_interval_over_the_questions(right):
    estimate = share(tasks([1] * right + [0] * (24 - right), ["a"] * 24))
    expected = stats.binomtest(right, 24).proportion_ci(method="wilson")
    assert (estimate.low, estimate.high) == pytest.approx((expected.low, expected.high))
    assert (estimate.unit, estimate.clusters) == ("question", 24)


def test_two_on_one_graph_are_compared_over_its_questions():
    first, second = [1] * 13 + [0] * 11, [0] * 24
    (comparison,) = comparisons(tasks(first, ["a"] * 24), tasks(second, ["a"] * 24))
    expected = stats.ttest_rel(first, second).confidence_interval()
    assert (comparison.low, comparison.high) == pytest.approx((expected.low, expected.high))
    assert comparison.p_value == pytest.approx(stats.binomtest(13, 13).pvalue / 2, abs=4e-4)
    (alone,) = comparisons(tasks([1], ["a"]), tasks([0], ["a"]))
    assert alone.p_value is None


@pytest.mark.parametrize("number", [1, 2, 5, 8, 16, 17])
def test_no_outcome_has_a_smaller_p_than_the_least(number):
    if number > 1:
        for graphs in (range(number), ["a"] * number):
            (comparison,) = comparisons(tasks(np.ones(number), graphs), tasks(np.zeros(number), graphs))
            assert comparison.p_value == pytest.approx(least_p_value(number))
    needed = units_needed(0.05 / number)
    assert least_p_value(needed) <= 0.05 / number < least_p_value(needed - 1)


def test_all_right_is_not_taken_for_certain():
    estimate = share(tasks(np.ones(60), np.repeat(range(5), 12)))
    assert estimate.high == 1.0
    assert estimate.low == pytest.approx(1 - (1 + stats.t.ppf(0.975, 5)) / 12)
    assert estimate.reason is None
