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


def test_not_all_nodes_have_a_label(index: GraphIndex) -> None:
    assert not index.all_labelled
    assert GraphIndex(PropertyGraph.from_rows(NODES[:2], [])).all_labelled


def test_names_of_nodes_and_relationships_are_kept_apart() -> None:
    both = GraphIndex(PropertyGraph.from_rows([Node("a", ("X",), {"n": 1})], [Relationship("X", "a", "a", {"r": 1})]))
    for _ in range(2):
        assert (both.property_names("node", "X"), both.property_names("relationship", "X")) == (["n"], ["r"])


def test_walks_are_counted_by_where_they_begin(index: GraphIndex) -> None:
    assert index.walks(0) == {"a": 0, "b": 0, "c": 0}
    assert index.walks(1) == {"a": 2, "b": 2, "c": 1}
    assert index.walks(3) == {"a": 2 + 4 + 6, "b": 2 + 3 + 5, "c": 1 + 2 + 4}
    assert index.walks(2) == {"a": 2 + 4, "b": 2 + 3, "c": 1 + 2}


def test_distances_count_the_fewest_steps(index: GraphIndex) -> None:
    assert index.distances("a", 1) == {"b": 1}
    assert index.distances("a", 3) == {"b": 1, "c": 2, "a": 3}
    assert index.distances("b", 3) == {"b": 1, "c": 1, "a": 2}
