from itertools import product

import numpy as np
import pytest
from scipy import stats

from graphwalk.scoring.statistics import compare, mcnemar_exact, outcomes_of, paired, sign_flips


def differing(differences):
    """Outcomes with these differences, one task per graph."""
    return outcomes_of(differences, range(len(differences)))


def test_only_identical_tasks_are_paired():
    first = outcomes_of([1, 1, 0, 1], ["a", "a", "b", "c"], [1, 2, 1, 1])
    second = outcomes_of([0, 1, 1], ["b", "a", "a"], [1, 1, 3])
    differences = paired(first, second)
    assert differences.keys == (("a", 1), ("b", 1))
    assert differences.values[:, 0].tolist() == [0.0, 0.0]


def test_a_task_unknown_to_one_is_left_out_of_that_measure():
    first = outcomes_of([[1, 1], [np.nan, 1], [0, 1]], "abc")
    second = outcomes_of([[0, 0], [1, 0], [0, np.nan]], "abc")
    one, two = compare(first, second, seed=0)
    assert (one.difference.n, one.first_better, one.second_better, one.equal) == (2, 1, 0, 1)
    assert (two.difference.n, two.first_better) == (2, 2)


def test_the_t_test_of_one_task_per_graph_is_that_of_every_textbook():
    first, second = np.random.default_rng(1).random((2, 9))
    (found,) = compare(outcomes_of(first, range(9)), outcomes_of(second, range(9)), seed=0)
    expected = stats.ttest_rel(first, second)
    assert found.t_p_value == pytest.approx(expected.pvalue)
    assert (found.difference.low, found.difference.high) == pytest.approx(tuple(expected.confidence_interval()))


def test_mcnemar_beside_it_says_what_it_ignores():
    first, second = np.array([1, 1, 1, 1, 1, 0]), np.array([0, 0, 0, 0, 1, 1])
    (found,) = compare(outcomes_of(first, "aabbcc", range(6)), outcomes_of(second, "aabbcc", range(6)), seed=0)
    assert (found.first_better, found.second_better, found.equal) == (4, 1, 1)
    assert found.mcnemar_p_value == mcnemar_exact(4, 1)
    assert found.mcnemar_ignores == "ignores that tasks share graphs"


def test_two_that_never_differ():
    same = outcomes_of([1, 0, 1, 0], "aabb", range(4))
    (found,) = compare(same, same, seed=0)
    assert (found.difference.value, found.difference.low, found.t_p_value) == (0.0, None, None)
    assert (found.sign_flips.p_value, found.mcnemar_p_value) == (1.0, 1.0)


def test_nothing_in_common():
    (found,) = compare(outcomes_of([1], ["a"]), outcomes_of([1], ["b"]), seed=0)
    assert (found.difference.value, found.sign_flips.p_value, found.sign_flips.clusters) == (None, 1.0, 0)


def test_every_assignment_of_signs():
    totals = np.array([3.0, -1.0, 2.0, 0.0, 1.5, 4.0])
    all_totals = np.array([abs(np.dot(signs, totals)) for signs in product([1, -1], repeat=6)])
    (found,) = sign_flips(differing(totals), seed=0)
    assert found.p_value == (all_totals >= 9.5).mean()
    assert found.mid_p == ((all_totals > 9.5).mean() + (all_totals >= 9.5).mean()) / 2
    assert (found.clusters, found.draws) == (6, None)


def test_the_least_p_that_five_graphs_can_show():
    (found,) = sign_flips(differing([1.0, 2.0, 3.0, 1.0, 0.5]), seed=0)
    assert (found.p_value, found.mid_p) == (2 / 32, 1 / 32)


def test_lots_make_the_level_exact_where_ties_make_it_coarse():
    """With three graphs no p_value is below 1/4; by lot 5 % are below 5 %, even where the players never differ."""
    random = np.random.default_rng(8)
    totals = random.integers(-1, 2, size=(3, 20_000)).astype(float)
    differences = outcomes_of(totals, range(3), range(3))
    found = sign_flips(differences, seed=3)
    assert min(one.p_value for one in found) == 1 / 4
    for level in (0.05, 0.2, 0.5):
        assert np.mean([one.p_by_lot <= level for one in found]) == pytest.approx(level, abs=0.012)
    assert sign_flips(differences, seed=3) == found


def test_signs_of_graphs_are_flipped_not_those_of_tasks():
    differences = outcomes_of([1.0] * 12, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2], range(12))
    assert sign_flips(differences, seed=0)[0].p_value == 2 / 8


def test_drawn_signs_agree_with_scipy_and_with_their_seed():
    totals = np.random.default_rng(4).normal(0.3, 1, 40)
    (found,) = sign_flips(differing(totals), seed=1)
    expected = stats.permutation_test(
        (totals,), np.mean, permutation_type="samples", n_resamples=20_000, random_state=np.random.default_rng(0)
    )
    assert found.p_value == pytest.approx(expected.pvalue, abs=0.015)
    assert found.draws == 9_999
    assert sign_flips(differing(totals), seed=1) == [found]
    (other,) = sign_flips(differing(totals), seed=2)
    assert other.p_value != found.p_value
    assert other.p_by_lot != found.p_by_lot


@pytest.mark.parametrize("graphs", [50, 1000])
def test_a_drawn_test_is_never_certain(graphs):
    (found,) = sign_flips(differing(np.ones(graphs)), seed=0)
    assert (found.p_value, found.mid_p) == (1 / 10_000, 0.5 / 10_000)


def test_what_is_known_of_both_is_known_of_their_difference():
    first = outcomes_of([[1, 1], [0, 1], [1, 0], [1, 1]], ["b", "b", "a", "a"], [1, 1, 2, 2])
    second = outcomes_of([[0, 1], [0, 0], [1, 1]], ["a", "b", "b"], [2, 1, 1])
    differences = paired(first, second)
    assert differences.keys == (("b", 1), ("a", 2))
    assert differences.values.tolist() == [[0.0, 0.5], [1.0, -0.5]]
    assert differences.graphs.tolist() == [0, 1]
    assert differences.episodes.tolist() == [3, 3]
    assert differences.noise.tolist() == pytest.approx((first.noise + second.noise).tolist())


def test_the_interval_has_the_confidence_asked_for():
    first, second = np.random.default_rng(2).random((2, 7))
    (found,) = compare(outcomes_of(first, range(7)), outcomes_of(second, range(7)), seed=0, confidence=0.8)
    expected = stats.ttest_rel(first, second).confidence_interval(0.8)
    assert (found.difference.low, found.difference.high) == pytest.approx(tuple(expected))
    differences = paired(outcomes_of(first, range(7)), outcomes_of(second, range(7)))
    assert [found.sign_flips] == sign_flips(differences, seed=0) != sign_flips(differences, seed=1)


def test_graphs_of_which_nothing_is_known_are_not_flipped_and_measures_do_not_meet():
    values = [[1.0, np.nan, 1e15], [1.0, 2.0, 3e15], [1.0, 3.0, -2e15]]
    found = sign_flips(outcomes_of(values, range(3)), seed=0)
    assert [(one.clusters, one.p_value) for one in found] == [(3, 2 / 8), (2, 2 / 4), (3, 6 / 8)]


@pytest.mark.parametrize(("graphs", "draws"), [(16, None), (17, 9_999)])
def test_up_to_sixteen_graphs_all_signs_are_tried(graphs, draws):
    assert sign_flips(differing(np.ones(graphs)), seed=0)[0].draws == draws
