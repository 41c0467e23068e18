import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphwalk import seeds
from graphwalk.graphs.generate import counts_with_mean, distinct_integers


@given(total=st.integers(1, 300), share=st.floats(0, 1), seed=st.integers(0, 9))
def test_distinct_integers_are_distinct_ascending_and_in_range(total: int, share: float, seed: int) -> None:
    count = round(share * total)
    integers = distinct_integers(seeds.generator(seed, "test"), total, count).tolist()
    assert len(integers) == count
    assert integers == sorted(set(integers))
    assert all(0 <= value < total for value in integers)


@pytest.mark.parametrize("count", [2, 5, 8])
def test_every_integer_is_equally_likely(count: int) -> None:
    rng = seeds.generator(1, "test")
    counts = np.bincount(np.concatenate([distinct_integers(rng, 10, count) for _ in range(4000)]), minlength=10)
    expected = 400 * count
    assert ((counts - expected) ** 2 / expected).sum() < 30


def test_a_huge_range_costs_no_memory() -> None:
    assert len(distinct_integers(seeds.generator(1, "test"), 10**15, 1000)) == 1000


@given(mean=st.floats(1, 9), length=st.integers(1, 40))
def test_counts_have_the_mean_and_are_at_least_one(mean: float, length: int) -> None:
    counts = counts_with_mean(seeds.generator(3, "test"), mean, length)
    assert len(counts) == length
    assert min(counts) >= 1
    assert sum(counts) == max(length, round(mean * length))
