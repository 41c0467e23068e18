"""Answers that are no JSON, one form after the other."""

from typing import Any

import pytest

from graphwalk.evaluation.rows import boxed_row, labelled_rows, table_rows, whole_value

AB = ("a", "b")


@pytest.mark.parametrize(
    ("text", "rows", "lossy"),
    [
        ("| a | b |\n|---|---|\n| 1 | x y |\n| 2 | z |", [{"a": "1", "b": "x y"}, {"a": "2", "b": "z"}], False),
        ("|a|b|\n|-|-|\n|X1|2X|", [{"a": "X1", "b": "2X"}], False),
        ("a | b\n:--|--:\n1 | 2", [{"a": "1", "b": "2"}], False),
        ("| **`a`** | _b_ |\n|---|---|\n| *1* | `2` |", [{"a": "1", "b": "2"}], False),
        ("| b | c | a |\n|---|---|---|\n| 2 | 3 | 1 |", [{"a": "1", "b": "2", "c": "3"}], False),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 |", [{"a": "1", "b": "2"}], True),
        ("| a | b |\n|---|---|\n| … | … |\n| 1 | 2 |", [{"a": "1", "b": "2"}], True),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4", [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}], True),
        ("| a | b |\n|---|---|\n| 1 | 2", [{"a": "1", "b": "2"}], True),
        ("| a | b |\n|---|---|\n| 1 | 2 |\nThat is all | no more", None, None),
    ],
)
def test_tables(text: str, rows: Any, lossy: bool | None) -> None:
    found = table_rows(text, AB)
    if rows is None:
        assert found is not None
        assert found == ([{"a": "1", "b": "2"}, {"a": "That is all", "b": "no more"}], False)
    else:
        assert found == (rows, lossy)


def test_the_last_table_with_rows_and_all_fields_counts() -> None:
    first, second = "| a | b |\n|---|---|\n| 1 | 2 |\n", "| a | b |\n|---|---|\n| 3 | 4 |\n"
    assert table_rows(f"{first}\nor\n\n{second}", AB) == ([{"a": "3", "b": "4"}], True)
    assert table_rows(f"{first}\nor\n\n{first}", AB) == ([{"a": "1", "b": "2"}], False)
    assert table_rows(f"{first}\nor\n\n| a | b |\n|---|---|\n", AB) == ([{"a": "1", "b": "2"}], False)
    assert table_rows(f"{first}\nor\n\n| a | c |\n|---|---|\n| 5 | 6 |", AB) == ([{"a": "1", "b": "2"}], False)


def test_a_rule_within_a_table_begins_no_other_one() -> None:
    assert table_rows("| a |\n|---|\n| a |\n|---|\n| 2 |", ["a"]) == ([{"a": "a"}, {"a": "---"}, {"a": "2"}], False)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "| a | b |",
        "| a | b |\n| 1 - 2 | x |\n| 3 | 4 |",
        "a, b\n|---|---|\n| 1 | 2 |",
        "| a | b |\n| : | : |\n| 1 | 2 |",
    ],
)
def test_what_is_no_table(text: str) -> None:
    assert table_rows(text, AB) is None


@pytest.mark.parametrize(
    ("text", "rows", "lossy"),
    [
        ("a: 1\nb: x7", [{"a": 1, "b": "x7"}], False),
        ("a: 1\n  \nb: x7", [{"a": 1, "b": "x7"}], False),
        ("- **a**: 1\n- **b**: 2\n\n- a: 3\n- b: 4", [{"a": 1, "b": 2}, {"a": 3, "b": 4}], False),
        ('> a = `k1`\n2. b: "two words"', [{"a": "k1", "b": "two words"}], False),
        ("a: 1\nb: 2\nor\na: 3\nb: 4", [{"a": 3, "b": 4}], True),
        ("a: 3\nb: 4\nthat is\na: 3\nb: 4", [{"a": 3, "b": 4}], False),
        ("a: 1", [{"a": 1}], True),
        ("a: 1\na: 2\nb: 2", [{"a": 1}, {"a": 2, "b": 2}], True),
        ("a: 1\nb: two words\nb: 2", [{"b": 2}], True),
        ("a: 1\nb: none", [{"a": 1}], True),
    ],
)
def test_labelled_lines(text: str, rows: Any, lossy: bool) -> None:
    assert labelled_rows(text, AB) == (rows, lossy)


@pytest.mark.parametrize("text", ["", "A: 1", "the a: 1", "a 1", "a: one two", "aa: 1"])
def test_what_is_no_labelled_line(text: str) -> None:
    assert labelled_rows(text, AB) is None


def test_names_are_no_patterns() -> None:
    assert labelled_rows("axb: 1", ["a.b"]) is None
    assert labelled_rows("a.b: 1", ["a.b"]) == ([{"a.b": 1}], False)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r"\boxed{k7}", "k7"),
        (r"so \boxed{\text{k7}} it is", "k7"),
        (r"\boxed{2} is \boxed{2}", 2),
        (r"\boxed{1} or \boxed{one two}", 1),
    ],
)
def test_boxes(text: str, value: Any) -> None:
    assert boxed_row(text, ["a"]) == ([{"a": value}], False)
    assert boxed_row(text, AB) is None


def test_different_boxes_are_lossy() -> None:
    assert boxed_row(r"\boxed{1} or \boxed{2.50}", ["a"]) == ([{"a": "2.50"}], True)


def test_an_empty_box_is_none() -> None:
    assert boxed_row(r"\boxed{none}", ["a"]) is boxed_row("k7", ["a"]) is None


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("12", [12]),
        ("**-3.50**.", ["-3.50"]),
        ("007", ["007"]),
        ("9" * 301, ["9" * 301]),
        ("`k7`", ["k7"]),
        ("``k7``.", ["k7"]),
        ("```text\nk7\n```", ["k7"]),
        ('"two words"', ["two words"]),
        ("- k7", ["k7"]),
        ("- k7\n\n* `k8`\n3. 9", ["k7", "k8", 9]),
    ],
)
def test_whole_replies(text: str, values: list[Any]) -> None:
    assert whole_value(text, ["a"]) == ([{"a": value} for value in values], False)
    assert whole_value(text, AB) is None


@pytest.mark.parametrize("text", ["", "k7", ".5", "no idea", "- k7\nand\n- k8", "- k7\n- none", "- two words", "*"])
def test_what_is_no_whole_reply(text: str) -> None:
    assert whole_value(text, ["a"]) is None
