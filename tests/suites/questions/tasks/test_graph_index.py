"""The index that the evaluators read, of a graph with several labels, none, loops and parallel relationships.

a:A:B ─R→ b:B ─R→ c (no label), a ─R→ b again, b ─S→ b, c ─S→ a
"""

import pytest

from graphwalk.suites.questions.tasks.graph_index import GraphIndex
from graphwalk.types.graph import Node, PropertyGraph, Relationship

NODES = [Node("a", ("A", "B"), {"p": 1, "q": "x"}), Node("b", ("B",), {"p": 1.0, "r": True}), Node("c", (), {"z": 2})]
RELATIONSHIPS = [
    Relationship("R", "a", "b", {"w": 1}),
    Relationship("R", "a", "b", {"v": "x"}),
    Relationship("R", "b", "c", {}),
    Relationship("S", "b", "b", {"w": 2, "u": 3}),
    Relationship("S", "c", "a", {}),
]


@pytest.fixture
def index() -> GraphIndex:
    return GraphIndex(PropertyGraph.from_rows(NODES, RELATIONSHIPS))


def test_nodes_by_label_and_key(index: GraphIndex) -> None:
    assert [index.keys_of(label) for label in ("A", "B", "C")] == [["a"], ["a", "b"], []]
    assert index.with_key("B", "b") == ["b"]
    assert index.with_key("A", "b") == index.with_key("B", "c") == index.with_key("A", "missing") == []
    assert index.has_label("a", "B")
    assert not index.has_label("c", "B")


def test_not_all_nodes_have_a_label(index: GraphIndex) -> None:
    assert not index.all_labelled
    assert GraphIndex(PropertyGraph.from_rows(NODES[:2], [])).all_labelled


def test_the_key_is_a_property_whatever_else_a_node_has(index: GraphIndex) -> None:
    assert (index.property("a", "key"), index.property("a", "q"), index.property("a", "r")) == ("a", "x", None)


def test_names_of_properties(index: GraphIndex) -> None:
    assert index.node_properties("B") == ["p", "q", "r"]
    assert index.node_properties("A") == ["p", "q"]
    assert index.relationship_properties("R") == ["v", "w"]
    assert index.relationship_properties("S") == ["u", "w"]
    assert index.node_properties("C") == index.relationship_properties("T") == []


def test_names_of_nodes_and_relationships_are_kept_apart() -> None:
    both = GraphIndex(PropertyGraph.from_rows([Node("a", ("X",), {"n": 1})], [Relationship("X", "a", "a", {"r": 1})]))
    assert (both.node_properties("X"), both.relationship_properties("X")) == (["n"], ["r"])
    assert (both.node_properties("X"), both.relationship_properties("X")) == (["n"], ["r"])


def test_values_of_a_property(index: GraphIndex) -> None:
    assert sorted(index.values("node", "B", "p")) == [1, 1.0]
    assert index.values("node", "A", "q") == ["x"]
    assert index.values("node", "A", "r") == []
    assert sorted(index.values("relationship", "S", "w")) == [2]
    assert index.values("relationship", "R", "u") == []


def test_who_is_next_to_whom(index: GraphIndex) -> None:
    assert index.successors == {"a": {"b"}, "b": {"b", "c"}, "c": {"a"}}
    assert index.successor_labels == {"a": {"B"}, "b": {"B"}, "c": {"A", "B"}}


def test_walks_are_counted_by_where_they_begin(index: GraphIndex) -> None:
    assert index.walks(0) == {"a": 0, "b": 0, "c": 0}
    assert index.walks(1) == {"a": 2, "b": 2, "c": 1}
    assert index.walks(3) == {"a": 2 + 4 + 6, "b": 2 + 3 + 5, "c": 1 + 2 + 4}
    assert index.walks(2) == {"a": 2 + 4, "b": 2 + 3, "c": 1 + 2}


def test_distances_count_the_fewest_steps(index: GraphIndex) -> None:
    assert index.distances("a", 1) == {"b": 1}
    assert index.distances("a", 3) == {"b": 1, "c": 2, "a": 3}
    assert index.distances("b", 3) == {"b": 1, "c": 1, "a": 2}
