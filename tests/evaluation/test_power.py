import math

import numpy as np
import pytest
from scipy import stats

from graphwalk.evaluation.power import (
    Design,
    Spread,
    assumed_spread,
    graphs_needed,
    measured_spread,
    minimum_detectable_effect,
)
from graphwalk.evaluation.statistics import estimate_means, outcomes_of


def test_without_clusters_it_is_the_formula_of_miller():
    spread, difference = Spread(0, 1 / 9, 1 / 6, 1 / 6), 0.03
    normal = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    expected = normal**2 * (1 / 9 + 1 / 6 + 1 / 6) / difference**2
    assert graphs_needed(difference, Design(1), spread) == pytest.approx(expected, rel=0.001)


@pytest.mark.parametrize("graphs", [5, 10, 30])
@pytest.mark.parametrize("power", [0.8, 0.9])
def test_power_as_by_the_noncentral_t_distribution(graphs, power):
    spread, design = assumed_spread(0.5, 0.6), Design(12, 4, 1)
    difference = minimum_detectable_effect(graphs, design, spread, power=power)
    shift = difference / math.sqrt(design.variance_of_a_graph(spread) / graphs)
    reached = stats.nct.sf(stats.t.ppf(0.975, graphs - 1), graphs - 1, shift)
    assert reached == pytest.approx(power, abs=0.025)


def test_the_spread_is_found_again():
    random = np.random.default_rng(0)
    graphs, tasks, repeats = 400, 12, 3
    hard = random.normal(0, 0.3, (graphs, 1, 1)) + random.normal(0, 0.5, (graphs, tasks, 1))
    first = hard + random.normal(0, 0.7, (graphs, tasks, repeats))
    second = random.normal(0, 0.2, (graphs, tasks, repeats))
    numbers = np.arange(graphs * tasks).repeat(repeats)
    one, two = (outcomes_of(v.ravel(), (numbers // tasks).tolist(), numbers.tolist()) for v in (first, second))
    spread = measured_spread(one, two)
    assert (spread.graphs, spread.tasks, spread.first, spread.second) == pytest.approx(
        (0.09, 0.25, 0.49, 0.04), rel=0.1
    )
    (estimate,) = estimate_means(outcomes_of((first - second).ravel(), (numbers // tasks).tolist(), numbers.tolist()))
    assert Design(tasks, repeats, repeats).variance_of_a_graph(spread) / graphs == pytest.approx(
        estimate.error**2, rel=0.02
    )


def test_no_spread_from_one_graph_or_one_task_a_graph():
    one, pairs = outcomes_of([1, 0, 1], "aaa"), outcomes_of([1, 0, 1], "abc")
    assert measured_spread(one, one) is None
    assert measured_spread(pairs, pairs) is None


def test_an_assumed_spread_by_hand():
    spread = assumed_spread(0.5, 0.8, graph_correlation=0.2, task_correlation=0.25, shared=0.5)
    # 0.25 and 0.16 alone, and 0.41 - 2 · 0.5 · √0.04 of their difference.
    assert (spread.graphs, spread.tasks) == pytest.approx((0.2 * 0.21, 0.8 * 0.25 * 0.21))
    assert (spread.first, spread.second) == pytest.approx((0.8 * 0.75 * 0.25, 0.8 * 0.75 * 0.16))
    usual = assumed_spread(0.5, 0.5)
    assert (usual.graphs, usual.tasks, usual.first, usual.second) == pytest.approx((0.025, 0.1125, 0.1125, 0.1125))


def test_level_and_power_are_those_asked_for():
    spread, design = Spread(0.01, 0.1, 0.2, 0.1), Design(6, 2, 3)
    quantiles = stats.t.ppf(0.995, 8) + stats.t.ppf(0.9, 8)
    expected = quantiles * math.sqrt(design.variance_of_a_graph(spread) / 9)
    assert minimum_detectable_effect(9, design, spread, alpha=0.01, power=0.9) == pytest.approx(expected)
    assert graphs_needed(expected, design, spread, alpha=0.01, power=0.9) == 9
    assert graphs_needed(-expected, design, spread, alpha=0.01, power=0.9) == 9
    assert minimum_detectable_effect(2, design, spread) is not None
    assert graphs_needed(1e6, design, spread) == 2
    assert graphs_needed(1e-6, design, spread) is graphs_needed(0, design, spread) is None
    assert minimum_detectable_effect(1, design, spread) is None
    for difference in (0.02, 0.1, 0.3):
        graphs = graphs_needed(difference, design, spread)
        assert minimum_detectable_effect(graphs, design, spread) <= difference
        assert minimum_detectable_effect(graphs - 1, design, spread) > difference


def test_the_spread_of_graphs_of_unequal_size():
    """As by the formulas of one-way analysis of variance."""
    groups = [[1.0, 0.0, 0.5], [1.0], [0.0, 0.25]]
    values, graphs = np.concatenate(groups), "aaabcc"
    none = outcomes_of([[9.0, 0.0]] * 6, graphs, range(6))
    spread = measured_spread(outcomes_of(np.stack([values * 7, values], axis=1), graphs, range(6)), none, 1)
    within = sum((value - np.mean(group)) ** 2 for group in groups for value in group) / (6 - 3)
    among = sum(len(group) * (np.mean(group) - values.mean()) ** 2 for group in groups) / (3 - 1)
    usual = (6 - (9 + 1 + 4) / 6) / (3 - 1)
    assert (spread.graphs, spread.tasks) == pytest.approx((max(0, (among - within) / usual), within))
    assert (spread.first, spread.second) == (0.0, 0.0)
    unknown = np.array([*values[:3], np.nan, *values[3:]])
    more = measured_spread(outcomes_of(unknown, "aaadbcc", range(7)), outcomes_of([0.0] * 7, "aaadbcc", range(7)))
    assert (more.graphs, more.tasks) == pytest.approx((spread.graphs, spread.tasks))


def test_noise_of_repeats_is_taken_off_the_spread_of_tasks():
    values, tasks = [1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0], [0, 0, 1, 1, 2, 2, 3, 3]
    repeated = outcomes_of(values, "aaaabbbb", tasks)
    once = outcomes_of([0.0] * 4, "aabb", range(4))
    spread = measured_spread(repeated, once)
    assert (spread.first, spread.second) == (repeated.noise[0], 0.0) == (0.25, 0.0)
    assert spread.tasks == pytest.approx(max(0.0, (0.25**2 * 2 + 0.25**2 * 2) / 2 - 0.25 / 2))
    assert measured_spread(once, repeated).second == 0.25
