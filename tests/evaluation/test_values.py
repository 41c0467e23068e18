"""Values as a model writes them: what is read as JSON, what as a Python literal, and which of them are equal."""

import json
from typing import Any

import pytest

from graphwalk.evaluation.replies import parse_relaxed
from graphwalk.evaluation.values import LONGEST_LITERAL, normalise, parse_answer, parse_json, parse_literal, value_forms


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
        ("nul", None),
        ("[1", None),
        ("", None),
    ],
)
def test_json_is_read(text: str, value: Any) -> None:
    assert parse_json(text) == value


@pytest.mark.parametrize("parse", [parse_json, parse_literal])
def test_forty_levels_are_read_and_no_more(parse: Any) -> None:
    assert parse(nested(40)) == json.loads(nested(40))
    assert parse(nested(39, "1")) == json.loads(nested(39, "1"))
    assert parse(nested(41)) is parse(nested(40, "1")) is None
    assert parse('{"a": ' * 39 + "1" + "}" * 39) is not None
    assert parse('{"a": ' * 40 + "1" + "}" * 40) is None
    assert parse(f"[1, {nested(40)}]") is parse(f"[{nested(40)}, 1]") is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (" {'a': (1, 'b'), 2: None} ", {"a": [1, "b"], "2": None}),
        ("-5", -5),
        ("[True, 2.5, -1]", [True, 2.5, -1]),
        ("[1e999, -1e999]", ["1e999", "-1e999"]),
        ("{10, 'a', 2}", ["a", 10, 2]),
        ("[{'b', 'a'}, ({2, 1},)]", [["a", "b"], [[1, 2]]]),
        ("['\\d', \"it's\"]", ["\\d", "it's"]),
        (f"[0x{'f' * 250}]", [int("f" * 250, 16)]),
        (f"[0x{'f' * 251}]", None),
        ("['a' 'b']", None),
        ("['a'\n\"b\"]", None),
        ("['a', 'b' , 'c']", ["a", "b", "c"]),
        ("['a', 'b' 'c', 'd']", None),
        ("[b'a']", None),
        ("[1+2j]", None),
        ("['a', [1, b'a']]", None),
        ("{'a': {1, b'a'}}", None),
        ("f(1)", None),
        ("None", None),
        ("True", None),
        ("[1", None),
        ("{'a': [], [1]: 2}", None),
    ],
)
def test_python_literals_are_read(text: str, value: Any) -> None:
    assert parse_literal(text) == value


@pytest.mark.parametrize("container", ["({},)", "[{}]", "{{'a': {}}}"])
def test_levels_of_every_container_count(container: str) -> None:
    text, deeper = "1", ""
    for level in range(1, 41):
        text = container.format(text)
        deeper = text if level == 40 else deeper
    assert parse_literal(deeper) is None
    text = "1"
    for _ in range(39):
        text = container.format(text)
    assert parse_literal(text) is not None


def test_members_of_a_set_are_a_level_too() -> None:
    assert parse_literal("[" * 38 + "{1}" + "]" * 38) is not None
    assert parse_literal("[" * 39 + "{1}" + "]" * 39) is None


def test_long_literals_are_no_deep_ones() -> None:
    assert parse_literal("[" + "(1,), " * 300 + "]") == [[1]] * 300
    assert parse_literal("[" + "-1, " * 300 + "]") == [-1] * 300
    assert parse_literal("[1" + " " * (LONGEST_LITERAL - 3) + "]") == [1]
    assert parse_literal("[1" + " " * (LONGEST_LITERAL - 2) + "]") is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (3, 3.0),
        (1.0000000000001, 1),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        ({"a": 1, "b": [2]}, {"b": [2], "a": 1}),
    ],
)
def test_equal_values_have_one_form(one: Any, other: Any) -> None:
    assert normalise(one) == normalise(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1.00000000001, 1),
        ("3", 3),
        ("1.1", "1.10"),
        ("1e3", "1000"),
        ("true", True),
        ("True", "true"),
        (True, 1),
        (" a", "a"),
        ({"a": 1}, {"a": 2}),
        ([1], ["1"]),
        (None, "None"),
    ],
)
def test_other_values_have_others(one: Any, other: Any) -> None:
    assert normalise(one) != normalise(other)


@pytest.mark.parametrize(
    ("value", "others"),
    [
        ("3", [3]),
        (" 3e2 ", [300]),
        ("-0.50", [-0.5]),
        ("1E2", [100.0]),
        ("9" * 300, [int("9" * 300)]),
        ("9" * 301, []),
        ("False", [False]),
        (" true", []),
        ("007", []),
        ("3.", []),
        (".5", []),
        ("+3", []),
        ("1e999", []),
        ("٣", []),
        (3, ["3"]),
        (0.5, ["0.5"]),
        (True, ["true"]),
        (None, []),
        ([3], []),
    ],
)
def test_what_else_a_value_may_stand_for(value: Any, others: list[Any]) -> None:
    assert list(value_forms(value)) == [value, *others]


@pytest.mark.parametrize("parse", [parse_answer, parse_literal, parse_relaxed])
@pytest.mark.parametrize("digits", ["1.10", "-1.10", "1e3", "-0", "-0.0e1", "1e999", "0.30000000000000001"])
def test_digits_that_python_would_write_otherwise_stay_in_an_answer(parse: Any, digits: str) -> None:
    assert parse(f"[{digits}]") == [digits]
    assert parse(f'["{digits}", "a"]') == [digits, "a"]
    assert parse("[1.1, 12, -3, 1000.0]") == [1.1, 12, -3, 1000.0]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'a': 1.10, 2.50: 'it is 1.10'}", {"a": "1.10", "2.50": "it is 1.10"}),
        ("[+1.10, - 1.10, .5, 5., 1_0]", [1.1, -1.1, 0.5, 5.0, 10]),
        ("[1.10 'a']", None),
        ("[5-1.10]", None),
        ("[1.10+2j]", None),
        ("[1.10.2]", None),
    ],
)
def test_only_numbers_as_json_has_them_stay_as_they_are_written(text: str, value: Any) -> None:
    assert parse_literal(text) == value


def test_what_json_cannot_hold_has_a_form_too() -> None:
    assert normalise([b"a"]) == normalise([b"a"]) != normalise([b"b"])
