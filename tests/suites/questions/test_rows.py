"""Rows as sets: their equality, text and order."""

from typing import Any

import pytest

from graphwalk.suites.questions.rows import as_shown, distinct, same_rows
from graphwalk.types.values import Temporal


def test_a_row_is_shown_as_it_is_answered() -> None:
    day = Temporal("date", "2001-04-25")
    assert as_shown({"day": day, "days": (1, day), "none": None}) == {
        "day": "2001-04-25",
        "days": [1, "2001-04-25"],
        "none": None,
    }
    assert as_shown({"day": day}) == {"day": "2001-04-25"}
    assert as_shown({"text": "a", "number": 1, "none": None}) == {"text": "a", "number": 1, "none": None}


def values(*found: Any) -> list[dict[str, Any]]:
    return [{"v": value} for value in found]


def test_distinct_rows_stand_in_the_order_of_their_values_and_null_comes_first() -> None:
    mixed = distinct(values("b", 2, None, "a", True, 0, 2.0, None, "b"))
    assert mixed == values(None, True, 0, 2.0, "a", "b")
    assert distinct(values("b", "a", "b")) == values("a", "b")
    assert distinct([{"b": 1, "a": 2}, {"a": 2, "b": 1}, {"b": 2, "a": 1}]) == [{"b": 2, "a": 1}, {"a": 2, "b": 1}]
    assert distinct([{"b": "1", "a": "2"}, {"b": "2", "a": "1"}]) == [{"b": "2", "a": "1"}, {"b": "1", "a": "2"}]
    assert distinct([]) == []


def test_of_more_rows_than_wanted_one_more_is_kept() -> None:
    assert distinct(values(3, 1, 2, 1), most=3) == values(1, 2, 3)
    assert distinct(values(3, 1, 3, 2, 5), most=2) == values(1, 2, 3)


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (values("a", "b", "a"), values("b", "a"), True),
        (values("a", "b"), values("a"), False),
        (values("a"), values("a", "b"), False),
        (values(1, "1"), values("1", 1.0), True),
        (values(1), values(True), False),
        (values(None), values(0), False),
        ([{"a": "x", "b": "y"}], [{"b": "y", "a": "x"}], True),
        ([{"b": "x", "a": "y"}, {"b": "x", "a": "y"}], [{"a": "y", "b": "x"}], True),
        ([{"a": "x", "b": "y"}], [{"a": "y", "b": "x"}], False),
        ([{"a": "x"}], [{"b": "x"}], False),
        ([], [], True),
        ([], values("a"), False),
    ],
)
def test_rows_are_compared_as_sets(left: list[dict[str, Any]], right: list[dict[str, Any]], same: bool) -> None:
    assert same_rows(left, right) is same
