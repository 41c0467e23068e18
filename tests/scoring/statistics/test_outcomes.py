import numpy as np
import pytest

from graphwalk.scoring.statistics import outcomes_of
from graphwalk.scoring.statistics.outcomes import sums_by


def test_repeats_are_averaged_so_that_each_task_counts_once():
    outcomes = outcomes_of([1, 0, 1, 1, np.nan, 0], ["a", "a", "a", "b", "b", "b"], [1, 1, 2, 1, 1, 2])
    assert outcomes.values[:, 0].tolist() == [0.5, 1.0, 1.0, 0.0]
    assert outcomes.keys == (("a", 1), ("a", 2), ("b", 1), ("b", 2))
    assert outcomes.graphs.tolist() == [0, 0, 1, 1]
    assert outcomes.episodes.tolist() == [5]


def test_noise_is_the_variance_of_repeats_of_one_task():
    values = np.random.default_rng(0).random((30, 2))
    outcomes = outcomes_of(values, ["g"] * 30, [number // 3 for number in range(30)])
    assert outcomes.noise == pytest.approx(values.reshape(10, 3, 2).var(axis=1, ddof=1).mean(axis=0))
    assert np.isnan(outcomes_of(values, ["g"] * 30).noise).all()


def test_tasks_with_one_known_repeat_say_nothing_of_noise():
    values = [[0.0, 0.5], [1.0, np.nan], [1.0, 0.5], [0.5, 0.25]]
    outcomes = outcomes_of(values, ["g"] * 4, [1, 1, 2, 3])
    assert outcomes.noise[0] == pytest.approx(0.5)
    assert np.isnan(outcomes.noise[1])


def test_the_order_of_episodes_makes_no_difference():
    random = np.random.default_rng(1)
    values, graphs, tasks = random.random(40), random.integers(0, 4, 40), random.integers(0, 3, 40)
    order = random.permutation(40)
    once = outcomes_of(values, graphs.tolist(), tasks.tolist())
    again = outcomes_of(values[order], graphs[order].tolist(), tasks[order].tolist())
    assert dict(zip(once.keys, once.values[:, 0], strict=True)) == pytest.approx(
        dict(zip(again.keys, again.values[:, 0], strict=True))
    )


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="3 rows of values, but 2 graphs"):
        outcomes_of([1, 0, 1], ["a", "b"])


def test_sums_by_number_where_some_have_no_rows():
    table = np.array([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]])
    assert sums_by(np.array([1, 3, 1]), table, 5).tolist() == [[0, 0], [5, 50], [0, 0], [2, 20], [0, 0]]
    assert sums_by(np.array([], dtype=np.int64), table[:0], 2).tolist() == [[0, 0], [0, 0]]
