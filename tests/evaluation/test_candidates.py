"""Values in running text: where they stand, how they were read, and what is left out."""

import pytest

from graphwalk.evaluation.replies import Candidate, find_candidates, is_stated


def found(text: str) -> list[object]:
    return [one.value for one in find_candidates(text).values]


def test_a_reply_that_is_a_value() -> None:
    assert find_candidates("[1, 2]").values == [Candidate([1, 2], "strict", 0, 6)]
    assert find_candidates("(1, 2)").values == [Candidate([1, 2], "literal", 0, 6)]
    assert found("- 5") == found("1,234") == []


def test_a_quoted_reply_is_read_again() -> None:
    within, whole = find_candidates('"so: [1, 2]"').values
    assert (within.value, within.stage) == ([1, 2], "wrapped")
    assert whole == Candidate("so: [1, 2]", "strict", 10, 10)


@pytest.mark.parametrize(
    ("text", "begins", "stated"),
    [
        ('so {"a": 1} is', False, False),
        ('{"a": 1} is', True, True),
        ('so\n{"a": 1} is', True, True),
        ('so: **{"a": 1}** is', True, True),
        ('so {"a": 1}.\nand', False, True),
        ('so {"a": 1}', False, True),
        (f'{"x" * 60} {{"a": 1}} {"y" * 60}', False, False),
        (f'so:{" " * 38}{{"a": 1}} is', True, True),
        (f'so:{" " * 40}{{"a": 1}} is', False, False),
        (f'so {{"a": 1}}{" " * 45}\nis', False, False),
        (f'so {{"a": 1}}{" " * 40}', False, True),
        ('x{"a": 1} is', False, False),
        (f'{" " * 40}{{"a": 1}} is', True, True),
    ],
)
def test_what_is_stated_and_what_is_mentioned(text: str, begins: bool, stated: bool) -> None:
    (one,) = find_candidates(text).values
    assert (text[one.start : one.end], one.begins, one.stated) == ('{"a": 1}', begins, stated)
    assert is_stated(text, one.start, one.end) is stated


def test_footnotes_are_no_values() -> None:
    assert found("as said [1] and [2], so [3, 4] and [true] and ['x']") == [[3, 4], [True], ["x"]]
    assert found("as said: [1]") == [[1]]


def test_fences_are_read_before_what_stands_in_them() -> None:
    text = "See ```json\n [1, 2] \n``` and ```[3]``` or ```\n[4, 5]"
    values = find_candidates(text).values
    assert [(one.value, one.stage, text[one.start : one.end]) for one in values] == [
        ([1, 2], "fenced", "[1, 2]"),
        ([3], "fenced", "[3]"),
        ([4, 5], "fenced", "[4, 5]"),
    ]
    assert all(one.begins and one.stated for one in values)
    assert found("``` ``` [6, 7]") == [[6, 7]]
    assert [one.stage for one in find_candidates("```[1, 2]``` [3, 4]").values] == ["fenced", "embedded"]


def test_parts_of_a_list_that_cannot_be_read_say_where_it_begins() -> None:
    values = find_candidates('x [{"a": 1}, {"a": 2}, oops] {"a": 3}').values
    assert [(one.value["a"], one.torn_from) for one in values] == [(1, 2), (2, 2), (3, None)]
    values = find_candidates('x [{"a": 1}, [oops, {"a": 2}], {"a": 3}').values
    assert [(one.value["a"], one.torn_from) for one in values] == [(1, 2), (2, 13), (3, 2)]
    values = find_candidates('x [oops]{"a": 1}').values
    assert [(one.value["a"], one.torn_from) for one in values] == [(1, None)]
    values = find_candidates('x {oops {"a": 1}}').values
    assert [(one.value["a"], one.torn_from) for one in values] == [(1, None)]


@pytest.mark.parametrize(
    ("text", "broken_off"),
    [
        ('[{"a": 1}, {"a":', 11),
        ('[{"a": 1}, {', 11),
        ("[{'a': 1}, { 'a", 11),
        ('[{"a": 1}, {a', None),
        ('{"b": {"a": 1}', None),
        ('{"a": 1} and {"b": 2, {"c":', 13),
        ('[{"a": 1}', None),
        ('{"a', 0),
        ('["a", "b"', None),
    ],
)
def test_where_an_object_breaks_off(text: str, broken_off: int | None) -> None:
    assert find_candidates(text).broken_off == broken_off


def test_other_scripts_are_read_as_ascii() -> None:
    assert found("答えは【１，２】です") == [[1, 2]]
    assert found("Es sind {„a“: 1}, nicht mehr") == [{"a": 1}]
    assert found("Es sind: ['“a”']") == [["“a”"]]
