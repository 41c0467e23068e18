"""How well texts match, and the index in memory."""

import pytest

from graphwalk.graphs.graph import Node, PropertyGraph, Relationship
from graphwalk.stores.search import MATCHES, SearchIndex, SearchText, folded

EQUAL, FOLDED, PREFIX, ALL_WORDS, PART, TYPING_ERRORS = MATCHES
RUNGS = [
    ("The Matrix", EQUAL),
    ("the matrix", FOLDED),
    ("  The   MATRIX ", FOLDED),
    ("The", PREFIX),
    ("matrix", ALL_WORDS),
    ("Matrix, The", ALL_WORDS),
    ("he Matr", PART),
    ("The Mtarix", TYPING_ERRORS),
    ("TheMatrix", TYPING_ERRORS),
    ("the metrics", None),
    ("Casablanca", None),
    ("?!", None),
]
GRAPH = PropertyGraph.from_rows(
    [
        Node("f1", ("Film",), {"title": "The Matrix", "year": 1999}),
        Node("f2", ("Film", "Sequel"), {"title": "The Matrix Reloaded", "aka": ("Matrix 2", "Reloaded", 2)}),
        Node("p1", ("Person",), {"name": "Tomás Leal", "nick": "matrix"}),
        Node("p2", (), {"name": "Lindø Ærø"}),
    ],
    [
        Relationship("ACTED_IN", "p1", "f1", {}),
        Relationship("ACTED_IN", "p1", "f2", {}),
        Relationship("R", "f1", "f1", {}),
    ],
)


@pytest.mark.parametrize(("text", "match"), RUNGS)
def test_a_text_matches_a_value_in_one_of_six_ways(text: str, match: str | None) -> None:
    rank = SearchText(text).rank("title", "The Matrix")
    assert (None if rank is None else MATCHES[rank[0]]) == match


def test_case_accents_and_spaces_are_folded() -> None:
    assert folded(" LINDØ\n\u00c6rø  Straße I\u0307 ") == "lindo aero strasse i"
    assert folded("e\u0301") == folded("é") == "e"
    assert folded("\u0301 \t") == ""


def matches_of(text: str, label: str | None = None) -> list[tuple[str, str, str]]:
    rows = SearchIndex(GRAPH).search(text, label)
    return [(row["key"], row["property"], row["match"]) for row in rows]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Matrix", [("f1", "title", EQUAL), ("f2", "title", PREFIX)]),
        ("matrix", [("p1", "nick", EQUAL), ("f2", "aka", PREFIX), ("f1", "title", ALL_WORDS)]),
        ("reloaded", [("f2", "aka", FOLDED)]),
        ("tomas leal", [("p1", "name", FOLDED)]),
        ("leel tomas", [("p1", "name", TYPING_ERRORS)]),
        ("lindo aeroo", [("p2", "name", TYPING_ERRORS)]),
        ("f1", [("f1", "key", EQUAL)]),
        ("1999", []),
        ("nothing like it", []),
        ("\ud800\0\u202e", []),
    ],
)
def test_the_best_match_of_each_node_comes_first(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert matches_of(text) == expected


def test_a_label_limits_the_search() -> None:
    assert [key for key, _, _ in matches_of("matrix", "Person")] == ["p1"]
    assert [key for key, _, _ in matches_of("matrix", "Sequel")] == ["f2"]
    assert matches_of("lindo aero", "") == [("p2", "name", FOLDED)]


def test_rows_show_the_whole_value_and_count_relationships() -> None:
    [row] = SearchIndex(GRAPH).search("matrix 2", None)
    assert (row["labels"], row["value"], row["relationships"]) == (["Film", "Sequel"], ["Matrix 2", "Reloaded", 2], 1)
    [row] = SearchIndex(GRAPH).search("f1", None)
    assert row["relationships"] == 2, "a loop is one relationship"


def test_many_equal_values_are_ten_rows_in_the_order_of_their_keys() -> None:
    nodes = []
    for number in reversed(range(3000)):
        label = "A" if number % 2 else "B"
        nodes.append(Node(f"n{number:04}", (label,), {"genre": "noir"}))
    index = SearchIndex(PropertyGraph.from_rows(nodes, []))
    assert [row["key"] for row in index.search("noir", None)] == [f"n{i:04}" for i in range(10)]


@pytest.mark.parametrize("text", ["node number {}", "the node number {}, of many"])
def test_whole_words_come_before_their_continuations(text: str) -> None:
    nodes = [Node("k5", ("A",), {"title": f"{text.format(5)} with a long end"})]
    for number in (*range(50, 60), *range(500, 600), *range(5000, 6000)):
        nodes.append(Node(f"k{number}", ("A",), {"title": text.format(number)}))
    index = SearchIndex(PropertyGraph.from_rows(nodes, []))
    assert index.search(text.format(5), None)[0]["key"] == "k5"
    assert index.search("k5", None)[0]["match"] == EQUAL
