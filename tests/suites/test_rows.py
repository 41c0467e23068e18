from typing import Any

import pytest

from graphwalk.suites.rows import (
    RowScore,
    compare_rows,
    distinct,
    typed_rows,
)


def keys(*names):
    return [{"node_key": name} for name in names]


@pytest.mark.parametrize(
    ("held", "same", "others"),
    [
        ("1.10", ["1.10"], ["1.1", 1.1, "1.100", " 1.10"]),
        ("1000", ["1000", 1000], ["1e3", 1000.0, "1000.0"]),
        ("true", ["true", True], ["True", "TRUE", 1]),
        ("True", ["True"], ["true", True]),
        ("007", ["007"], ["7", 7]),
        (3, [3, 3.0, "3", "3.0", " 3 "], ["three", True]),
        (0.3, [0.1 + 0.2, "0.3", "0.30", "3e-1"], ["0,3", 0.30000000001]),
        (9780306406157, [9780306406157.0, "9780306406157.0"], [9780306406158, 9780306406157.1]),
        (True, [True, "true", "True"], [1, "1", "TRUE"]),
    ],
)
def test_values_compare_by_the_type_in_the_graph(held, same, others):
    target = [{"node_key": held}]
    for value in same:
        assert compare_rows(keys(value), target, ["node_key"]).correct, value
    for value in others:
        assert not compare_rows(keys(value), target, ["node_key"]).correct, value


def test_nan_in_the_target_leaves_the_other_numbers_their_order():
    fractions = [number + 0.3 for number in range(40)]
    target = []
    for fraction in fractions:
        # Each NaN is an object of its own, at another address.
        target += [{"p": fraction}, {"p": float("nan")}, {"p": float("inf")}]
    answer = [{"p": fraction * (1 + 1e-13)} for fraction in fractions]
    assert [row["p"] for row in typed_rows(answer, target, ["p"])] == fractions


def test_where_the_graph_holds_both_the_type_that_is_given_counts():
    target = [{"p": "1"}, {"p": 2}, {"p": 3}, {"p": "3"}]
    rows = [{"p": 1}, {"p": "2"}, {"p": 3}, {"p": "3"}, {"p": None}, {}]
    assert typed_rows(rows, target, ["p"]) == [{"p": "1"}, {"p": 2}, {"p": 3}, {"p": "3"}, {"p": None}, {}]
    assert rows[0] == {"p": 1}


def test_close_numbers_of_the_target_are_several_rows() -> None:
    close = [{"p": 1700000000.123456}, {"p": 1700000000.123457}]
    assert compare_rows(close[:1], close, ["p"]).recall == 0.5
    assert compare_rows(close[::-1], close, ["p"]).correct
    assert typed_rows([{"p": "1700000000.1234561"}], close, ["p"]) == close[:1]


NONE_RIGHT = RowScore(False, 0.0, 0.0, 0.0, 0)


@pytest.mark.parametrize(
    ("answer", "target", "any_one", "score"),
    [
        (None, "a", False, NONE_RIGHT),
        ("", "a", False, NONE_RIGHT),
        (None, "", False, NONE_RIGHT),
        ("", "", False, RowScore(True, 1.0, 1.0, 1.0, 0)),
        ("ab", "", False, RowScore(False, 0.0, 0.0, 0.0, 2)),
        ("abxx", "abcd", False, RowScore(False, 2 / 3, 0.5, 4 / 7, 1)),
        ("b", "ab", True, RowScore(True, 1.0, 1.0, 1.0, 0)),
        ("bx", "ab", True, RowScore(False, 0.5, 1.0, 2 / 3, 1)),
    ],
)
def test_scores_of_answers(answer, target, any_one, score):
    rows = None if answer is None else keys(*answer)
    result = compare_rows(rows, keys(*target), ["node_key"], any_one=any_one)
    assert (result.correct, result.false_positives) == (score.correct, score.false_positives)
    rates = (score.precision, score.recall, score.f1)
    assert (result.precision, result.recall, result.f1) == pytest.approx(rates)


def test_a_row_without_a_value_is_no_correct_answer() -> None:
    target = [{"value": None}, {"value": "a"}]
    for answer, correct in (({}, False), ({"value": None}, False), ({"x": 1}, False), ({"value": "a"}, True)):
        assert compare_rows([answer], target, ["value"], any_one=True).correct is correct


def values(*listed: Any) -> list[dict[str, Any]]:
    return [{"v": value} for value in listed]


def test_distinct_rows_stand_in_the_order_of_their_values_and_null_comes_first() -> None:
    mixed = distinct(values("b", 2, None, "a", True, 0, 2.0, None, "b"))
    assert mixed == values(None, True, 0, 2.0, "a", "b")
    assert distinct([{"b": 1, "a": 2}, {"a": 2, "b": 1}, {"b": 2, "a": 1}]) == [{"b": 2, "a": 1}, {"a": 2, "b": 1}]
    assert distinct(values(3, 1, 3, 2, 5), most=2) == values(1, 2, 3)
