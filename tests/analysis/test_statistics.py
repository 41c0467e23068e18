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
    _as_whole_numbers,
    _mid_p_of_whole_numbers,
    compare_pairs,
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
    """The tasks of a contestant, or of several; without names, every episode is a task."""
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
    return [SimpleNamespace(**row) for row in compare_pairs(both, pair, ["value"], seed=0).to_dicts()]


def test_repeats_are_averaged_so_that_each_task_counts_once():
    averaged = tasks([1, 0, 1, 1, None, 0], ["a", "a", "a", "b", "b", "b"], [1, 1, 2, 1, 1, 2])
    assert averaged.select("graph", "task_id", "value").rows() == [("a", 1, 0.5), ("a", 2, 1), ("b", 1, 1), ("b", 2, 0)]


def bell_mccaffrey(values, graphs):
    """Standard error and degrees of freedom of a mean by CR2, with the matrices of Bell and McCaffrey (2002)."""
    n = len(values)
    ones = np.ones((n, 1))
    hat = ones @ ones.T / n
    residuals = values - values.mean()

    variance = 0.0
    columns = []
    for graph in sorted(set(graphs)):
        of_graph = np.array([other == graph for other in graphs])
        within = np.eye(of_graph.sum()) - hat[np.ix_(of_graph, of_graph)]
        eigenvalues, vectors = np.linalg.eigh(within)
        adjusted = vectors @ np.diag(eigenvalues**-0.5) @ vectors.T @ ones[of_graph] / n
        variance += float((adjusted[:, 0] @ residuals[of_graph]) ** 2)
        columns.append((np.eye(n) - hat)[of_graph].T @ adjusted)
    both = np.hstack(columns)
    eigenvalues = np.linalg.eigvalsh(both.T @ both)
    return math.sqrt(variance), eigenvalues.sum() ** 2 / (eigenvalues**2).sum()


@pytest.mark.parametrize("sizes", [(1, 2, 30), (1, 1, 1, 40), (3, 9), (1, 2, 30, 1, 2, 30, 1, 2, 30, 1), (4,) * 6])
def test_error_and_degrees_of_freedom_are_those_of_bell_and_mccaffrey(sizes):
    values = np.random.default_rng(0).random(sum(sizes))
    graphs = np.repeat(range(len(sizes)), sizes).tolist()
    error, freedom = bell_mccaffrey(values, graphs)
    for estimate in (mean, share):
        estimated = estimate(tasks(values, graphs))
        assert (estimated.error, estimated.df) == pytest.approx((error, freedom))


def test_graphs_with_equally_many_tasks_have_the_error_of_every_textbook():
    values, graphs = np.random.default_rng(0).random(24), np.repeat(range(6), 4)
    estimated = mean(tasks(values, graphs))
    assert estimated.error == pytest.approx(stats.sem(values.reshape(6, 4).mean(axis=1)))
    assert estimated.df == pytest.approx(5)


def test_one_graph_with_almost_all_tasks_has_one_degree_of_freedom():
    estimated = mean(tasks([1.0, *np.random.default_rng(0).random(100_000)], [0, *[1] * 100_000]))
    assert estimated.df == pytest.approx(1)


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


def flipped(differences, graphs=None):
    """The p-value of these differences, by default with one task per graph, and whether it is exact."""
    frame = tasks(differences, range(len(differences)) if graphs is None else graphs)
    return sign_flips(frame, BY, ["value"], seed=0).select("p_value", "p_exact").row(0)


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


def by_enumeration(totals):
    """The mid-p-value from all assignments of signs, in whole numbers."""
    observed = abs(sum(totals))
    larger = 0
    equal = 0
    for signs in product([1, -1], repeat=len(totals)):
        signed = abs(sum(np.multiply(signs, totals).tolist()))
        larger += signed > observed
        equal += signed == observed
    return (larger + equal / 2) / 2 ** len(totals)


@given(st.lists(st.integers(-12, 12), min_size=1, max_size=9), st.sampled_from([1, 2, 3, 4, 10, 12]))
@example([0, 0], 1)
@example([5, -5, 0, 2], 3)
def test_every_assignment_of_signs_counts(totals, repeats):
    assert flipped([total / repeats for total in totals]) == (pytest.approx(by_enumeration(totals)), True)


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=9).filter(any), st.sampled_from([1, 2, 3, 7, 10]))
def test_the_sum_of_whole_numbers_has_the_distribution_of_all_assignments(totals, repeats):
    """21 and more graphs are computed, not enumerated: here on few graphs, which enumeration can check."""
    whole = _as_whole_numbers(np.array([total / repeats for total in totals]))
    assert whole is not None
    assert np.sign(whole).tolist() == np.sign(totals).tolist()
    assert _mid_p_of_whole_numbers(whole) == pytest.approx(by_enumeration(totals))


@pytest.mark.parametrize(("graphs", "ahead"), [(21, 15), (40, 40), (300, 170)])
def test_a_lead_of_one_on_each_of_many_graphs_has_the_p_of_the_sign_test(graphs, ahead):
    p, is_exact = flipped([1.0] * ahead + [-1.0] * (graphs - ahead))
    at_least, more = (
        stats.binomtest(number, graphs).pvalue if number <= graphs else 0 for number in (ahead, ahead + 1)
    )
    assert is_exact
    assert p == pytest.approx((at_least + more) / 2)


def test_leads_of_1_to_30_have_the_p_of_the_signed_ranks():
    signs = np.random.default_rng(3).choice([-1, 1], 30, p=[0.3, 0.7])
    signs[0] = -1
    ranks = signs * np.arange(1, 31)
    assert ranks.sum() > 0
    one_further = ranks.copy()
    one_further[0] = 1
    at_least, more = (stats.wilcoxon(one, method="exact").pvalue for one in (ranks, one_further))
    p, is_exact = flipped([rank / 4 for rank in ranks])
    assert is_exact
    assert p == pytest.approx((at_least + more) / 2)


def test_only_other_numbers_on_many_graphs_are_drawn():
    random = np.random.default_rng(4)
    lead = random.standard_normal(20) + 0.3
    assert flipped(lead)[1]
    drawn, is_exact = flipped([*lead, 0.1234567891])
    assert not is_exact
    totals = np.array([*lead, 0.1234567891])
    sums = np.zeros(1)
    for total in totals:
        sums = np.concatenate([sums + total, sums - total])
    assert drawn == pytest.approx((np.abs(sums) >= totals.sum() - 1e-9).mean(), abs=0.02)


@pytest.mark.parametrize("graphs", [5, 16, 17, 20, 21, 100])
def test_a_lead_on_every_graph_has_the_least_p(graphs: int) -> None:
    assert flipped([1.0] * 2 * graphs, np.repeat(range(graphs), 2)) == (pytest.approx(least_p_value(graphs)), True)


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
    assert comparison.p_value == pytest.approx(stats.binomtest(13, 13).pvalue / 2)
    (alone,) = comparisons(tasks([1], ["a"]), tasks([0], ["a"]))
    assert alone.p_value is None


@pytest.mark.parametrize("number", [1, 2, 5, 8, 20, 21])
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
