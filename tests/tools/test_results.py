"""Rows in one order, however a database gives them."""

import random

from hypothesis import given
from hypothesis import strategies as st

from graphwalk.tools.results import canonical_rows

SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-2, 2) | st.text("abé", max_size=2)
ROWS = st.lists(
    st.fixed_dictionaries({"a": SCALARS, "b": st.dictionaries(st.sampled_from(["key", "x", "A"]), SCALARS)}), max_size=8
)


@given(rows=ROWS, seed=st.integers(0, 1000))
def test_the_order_of_rows_and_properties_does_not_matter(rows: list[dict], seed: int) -> None:
    rows = [{"a": row["a"], "b": row["b"]} for row in rows]
    shuffled = [{"a": row["a"], "b": dict(_shuffled(row["b"].items(), seed))} for row in _shuffled(rows, seed)]
    assert repr(canonical_rows(shuffled)) == repr(canonical_rows([dict(row) for row in rows]))


def test_columns_count_from_left_to_right_and_numbers_by_size() -> None:
    rows = [{"a": 10, "b": "x"}, {"a": 9, "b": "z"}, {"a": 9, "b": "y"}]
    assert canonical_rows(rows) == [{"a": 9, "b": "y"}, {"a": 9, "b": "z"}, {"a": 10, "b": "x"}]


def _shuffled(items: object, seed: int) -> list:
    return random.Random(seed).sample(list(items), len(list(items)))
