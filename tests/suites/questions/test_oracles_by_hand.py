"""Each question on a graph small enough to answer by hand, with both oracles.

s1:S ─R q=1→ t1:T ─R→ m1:M ─S q=2→ t2:T        s1 ─R q=1→ t1 twice (parallel), s1 ─S→ s1 (self-loop)
s2:S ─R q=2→ t1       m1 ─R→ s1                s3:S ─R (no q)→ t2      s4:S alone
"""

from typing import Any

import pytest

from graphwalk.graphs.graph import Node, PropertyGraph, Relationship
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.questions.catalogue import shipped_kinds
from graphwalk.suites.questions.graph_index import GraphIndex
from graphwalk.suites.questions.question import Question, cypher_rows
from graphwalk.suites.rows import distinct, same_rows

GRAPH = PropertyGraph.from_rows(
    [
        Node("s1", ("S",), {"p": "x"}),
        Node("s2", ("S",), {"p": "x"}),
        Node("s3", ("S",), {"p": "x"}),
        Node("s4", ("S",), {}),
        Node("t1", ("T",), {"p": 1.5}),
        Node("t2", ("T",), {}),
        Node("m1", ("M",), {"p": True}),
    ],
    [
        Relationship("R", "s1", "t1", {"q": 1}),
        Relationship("R", "s1", "t1", {"q": 1}),
        Relationship("S", "s1", "s1", {}),
        Relationship("R", "s2", "t1", {"q": 2, "w": "y"}),
        Relationship("R", "s3", "t2", {}),
        Relationship("R", "t1", "m1", {}),
        Relationship("S", "m1", "t2", {"q": 2}),
        Relationship("R", "m1", "s1", {}),
    ],
)


def keys(name: str, *found: str) -> list[dict[str, Any]]:
    return [{name: key} for key in found]


def pairs(*found: str) -> list[dict[str, Any]]:
    return [dict(zip(("source_node_key", "target_node_key"), pair.split(), strict=True)) for pair in found]


CASES: list[tuple[str, str, list[dict[str, Any]]]] = [
    ("node_count", "S T", [{"count": 3}]),
    ("node_count", "S S", [{"count": 1}]),
    ("node_count", "T S", [{"count": 0}]),
    ("relationship_count", "R", [{"count": 6}]),
    ("node_with_most_relationships", "S R", [{"node_key": "s1", "rel_count": 2}]),
    ("node_with_most_relationships", "T S", []),
    ("node_with_most_relationships", "S Z", []),
    ("node_by_property", "S p x", keys("node_key", "s1", "s2", "s3")),
    ("node_by_property", "S p y", []),
    ("node_by_property", "S key s2", keys("node_key", "s2")),
    ("node_by_property", "Z p x", []),
    ("relationship_by_property", "R q 1", [{"source_key": "s1", "target_key": "t1", "q": 1, "w": None}]),
    ("relationship_by_property", "R q 2", [{"source_key": "s2", "target_key": "t1", "q": 2, "w": "y"}]),
    ("relationship_by_property", "Z q 1", []),
    ("path_finding", "S T M", pairs("s1 m1", "s2 m1")),
    # The self-loop of s1 cannot be used twice.
    ("path_finding", "S S S", []),
    ("path_finding", "S S T", pairs("s1 t1")),
    # t2 has no further step.
    ("variable_hop_path", "S T 3", pairs("s1 t1", "s2 t1")),
    # From s1 the loop leads back, and R leads on; from s2 it takes t1, m1 and s1.
    ("variable_hop_path", "S S 3", pairs("s1 s1", "s2 s1")),
    ("variable_hop_path", "M T 2", pairs("m1 t1")),
    # m1 → s1 → t1 → m1 → t2: the cycle leaves m1 by one relationship, and another is left for the further step.
    ("variable_hop_path", "M M 3", pairs("m1 m1")),
    # The only way on from t1 is the one that the cycle took.
    ("variable_hop_path", "T T 3", []),
    ("path_from_specific_node", "S s1 T 1", keys("target_node_key", "t1")),
    ("path_from_specific_node", "S s1 T 3", keys("target_node_key", "t1", "t2")),
    ("path_from_specific_node", "S s1 S 1", keys("target_node_key", "s1")),
    ("path_from_specific_node", "T s1 T 3", []),
    # t1 is reached in two steps by way of the self-loop too, but is a direct neighbour.
    ("remote_node_property", "S s1 T p 2", []),
    ("remote_node_property", "S s1 M p 2", [{"value": True}]),
    ("remote_node_property", "S s1 T p 3", [{"value": None}]),
    ("remote_node_property", "M m1 T p 2", [{"value": 1.5}]),
    ("remote_node_property", "T t1 T p 3", [{"value": None}, {"value": 1.5}]),
    ("shared_neighbor", "S s1 T S", keys("target_node_key", "s2")),
    ("shared_neighbor", "S s1 M T", keys("target_node_key", "t1", "t2")),
    ("shared_neighbor", "S s3 T M", keys("target_node_key", "m1")),
    # The self-loop of s1 makes it no neighbour of itself: not from s1, and not from t1, whose neighbour s1 is.
    ("shared_neighbor", "S s1 S M", []),
    ("shared_neighbor", "S s1 S S", []),
    ("shared_neighbor", "T t1 S S", []),
    ("shared_neighbor", "T s1 T S", []),
    ("compositional_intersection", "S T S", keys("node_key", "s1")),
    ("compositional_intersection", "M T S", keys("node_key", "m1")),
    ("negation_with_connection", "S T S", keys("node_key", "s2", "s3")),
    ("negation_with_connection", "S S T", []),
    # s1 has only the excluded value, s3 no value at all.
    ("negation_on_rel_property", "S p x R T q 1", keys("node_key", "s2")),
    ("negation_on_rel_property", "S p x R T q 3", keys("node_key", "s1", "s2")),
    # t1 and t2 share m1 with s1, t2 without the property; t1 is 1.5.
    ("negation_on_shared_neighbor", "S s1 M T p x", keys("target_node_key", "t1")),
    ("negation_on_shared_neighbor", "S s1 T S p x", []),
    ("negation_on_shared_neighbor", "T t1 S S p y", []),
    ("negation_on_shared_neighbor", "S s1 T S p y", keys("target_node_key", "s2")),
]


@pytest.mark.parametrize(("name", "words", "answer"), CASES)
async def test_both_oracles_give_the_answer_found_by_hand(name: str, words: str, answer: list[dict[str, Any]]) -> None:
    kind = shipped_kinds()[name]
    values = [int(word) if word.isdecimal() else word for word in words.split()]
    question = Question(kind, GraphIndex(GRAPH), dict(zip(kind.parameters, values, strict=True)))
    assert question.part is not None
    rows = distinct(question.part.rows(question.index))
    assert len(rows) == len(answer)
    assert same_rows(rows, answer)
    assert same_rows(await cypher_rows(question, await EmbeddedDatabase().load(GRAPH)), answer)
