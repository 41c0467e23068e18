from typing import Any

import pytest

from graphwalk.graphs.answers import Parsed, normalise, parse_answer, parse_answer_json, parse_literal, value_forms


def nested(depth: int, core: str = "") -> str:
    return "[" * depth + core + "]" * depth


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, 2.5, true, null]}', {"a": [1, 2.5, True, None]}),
        ("[NaN, Infinity, -Infinity, 1e999]", ["NaN", "Infinity", "-Infinity", "1e999"]),
        ("9" * 300, int("9" * 300)),
        ("9" * 301, "9" * 301),
        ("null", None),
        ("[1", None),
        ("", None),
    ],
)
def test_json_is_read(text: str, value: Any) -> None:
    assert parse_answer_json(text) == value


@pytest.mark.parametrize("parse", [parse_answer_json, parse_answer, parse_literal])
def test_forty_levels_are_read_and_no_more(parse: Any) -> None:
    assert parse(nested(40)) is not None
    assert parse(nested(39, "1")) is not None
    assert parse(nested(41)) is parse(nested(40, "1")) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'a': (1, 'b'), 2: None}", {"a": [1, "b"], "2": None}),
        ("[True, 2.5, -1]", [True, 2.5, -1]),
        ("[1e999, -1e999]", ["Infinity", "-Infinity"]),
        ("{10, 'a', 2}", ["a", 10, 2]),
        ("['\\d', \"it's\"]", ["\\d", "it's"]),
        (f"[{'9' * 301}]", ["9" * 301]),
    ],
)
def test_python_literals_are_read(text: str, value: Any) -> None:
    assert parse_literal(text) == Parsed(value)


@pytest.mark.parametrize("digits", ["1.10", "-1.10", "1e3", "-0", "-0.0e1", "1e999", "0.30000000000000001"])
def test_numbers_that_python_would_write_otherwise_stay_text_in_an_answer(digits: str) -> None:
    assert parse_answer(f"[{digits}]") == Parsed([digits])
    assert parse_answer("[1.1, 12, -3, 1000.0]") == Parsed([1.1, 12, -3, 1000.0])


EQUAL: list[tuple[Any, Any]] = [(3, 3.0), (float("nan"), "nan"), (float("inf"), "inf")]
EQUAL += [({"a": 1, "b": [2]}, {"b": [2], "a": 1})]
DIFFERENT: list[tuple[Any, Any]] = [
    *((1.0000000000001, 1), ("3", 3), ("1.1", "1.10"), ("1e3", "1000"), ("true", True), ("True", "true"), (True, 1)),
    *((" a", "a"), ({"a": 1}, {"a": 2}), ([1], ["1"]), (None, "None"), ("Abc", "abc"), ("", None), (False, 0)),
    *((12345678901234567890, 12345678901234567891), ([b"a"], [b"b"])),
]


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_equal_values_have_one_form(one: Any, other: Any) -> None:
    assert normalise(one) == normalise(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_values_have_different_forms(one: Any, other: Any) -> None:
    assert normalise(one) != normalise(other)


@pytest.mark.parametrize(
    ("value", "others"),
    [
        ("3", [3]),
        ("1E2", [100.0]),
        ("9" * 300, [int("9" * 300)]),
        ("9" * 301, []),
        ("False", [False]),
        (" true", []),
        ("007", []),
        ("+3", []),
        ("1e999", []),
        ("٣", []),
        (3, ["3"]),
        (0.5, ["0.5"]),
        (True, ["true"]),
        (None, []),
    ],
)
def test_what_else_a_value_may_stand_for(value: Any, others: list[Any]) -> None:
    assert list(value_forms(value)) == [value, *others]
