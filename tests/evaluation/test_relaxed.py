"""What is nearly JSON, as it is meant."""

from typing import Any

import pytest

from graphwalk.evaluation.replies import parse_relaxed, to_ascii
from graphwalk.evaluation.values import LONGEST_LITERAL


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[1, 2,]", [1, 2]),
        ('{"a": [1,], }', {"a": [1]}),
        ("{a: 1, b_2 : 2}", {"a": 1, "b_2": 2}),
        ("[1, // one\n 2] ", [1, 2]),
        ("[1, /* two */ 2]", [1, 2]),
        ("[1] /* never ends", [1]),
        ('["a, // b", "/* c */", "d: 1"]', ["a, // b", "/* c */", "d: 1"]),
        ("['a', null, true, false]", ["a", None, True, False]),
        ('["a\\/b", null,]', ["a/b", None]),
        ('{\\"a\\": 1}', {"a": 1}),
        ('[\\"a\\"]', ["a"]),
        ('{"a": "x \\"y\\"",}', {"a": 'x "y"'}),
        ("['null', nullable]", None),
        ("[1, 2", None),
    ],
)
def test_what_is_meant_is_read(text: str, value: Any) -> None:
    assert parse_relaxed(text) == value


def test_long_texts_are_not_tried() -> None:
    assert parse_relaxed("[1,]" + " " * (LONGEST_LITERAL - 4)) == [1]
    assert parse_relaxed("[1,]" + " " * (LONGEST_LITERAL - 3)) is None


def test_signs_of_other_scripts() -> None:
    assert to_ascii("｛“a”：［１，−２］｝") == '{"a":[1,-2]}'
    assert to_ascii("é") == "é"
