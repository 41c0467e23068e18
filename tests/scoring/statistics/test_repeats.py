from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphwalk.scoring.statistics import pass_at_k, pass_hat_k, pass_rates


@given(st.lists(st.booleans(), min_size=1, max_size=8), st.integers(1, 9))
def test_as_counted_over_all_choices_of_k_tries(tries, k):
    choices = list(combinations(tries, k))
    any_right, all_right = pass_at_k(sum(tries), len(tries), k), pass_hat_k(sum(tries), len(tries), k)
    if not choices:
        assert np.isnan(any_right)
        assert np.isnan(all_right)
    else:
        assert any_right == pytest.approx(np.mean([any(choice) for choice in choices]))
        assert all_right == pytest.approx(np.mean([all(choice) for choice in choices]))


def test_rates_over_tasks_with_intervals_over_graphs():
    right = [1, 0, 1, 1, 0, 0, 1, np.nan]
    rates = pass_rates(right, "aaaabbbb", [1, 1, 2, 2, 1, 1, 2, 2], 2)
    assert (rates.any_of_k.value, rates.all_of_k.value) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert (rates.any_of_k.n, rates.any_of_k.clusters) == (3, 2)
    assert rates.any_of_k.low < rates.any_of_k.value < rates.any_of_k.high


def test_no_tries_are_no_question():
    with pytest.raises(ValueError, match="at least 1, not 0"):
        pass_at_k(1, 2, 0)


def test_a_task_of_which_no_try_is_known_counts_for_nothing():
    rates = pass_rates([1, 0, 1, np.nan], "aabb", [1, 1, 2, 3], 1)
    assert (rates.any_of_k.n, rates.any_of_k.value) == (2, pytest.approx(3 / 4))


def test_rates_have_the_confidence_asked_for():
    narrow, wide = (pass_rates([1, 0, 1, 1, 0, 1], "aabbcc", range(6), 1, confidence=c).any_of_k for c in (0.5, 0.95))
    assert wide.low < narrow.low < narrow.high < wide.high
