from datetime import date, datetime, timedelta

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given

from graphwalk.errors import ConfigError
from graphwalk.graphs.conversion import from_networkx, to_networkx
from graphwalk.graphs.generate import generate_graph
from graphwalk.graphs.graph import Node, PropertyGraph, Relationship
from graphwalk.graphs.values import Temporal
from tests.graphs.graphs import odd_graphs, specs


def test_a_graph_of_another_program_is_read() -> None:
    theirs = nx.MultiDiGraph()
    theirs.add_node(1, labels=["Person", "Old"], key="1", age=np.int64(30), nickname=None, sizes=np.array([1.5, 2.0]))
    theirs.add_node("a", labels=":Two:Labels", key="captain", trip=timedelta(days=2, seconds=3))
    theirs.add_node("d", labels=[], built=date(1897, 5, 1), seen=datetime(2001, 4, 25, 12, 30, 1, 500_000))
    theirs.add_node("b", label="City")
    theirs.add_edge(1, "b", key="LIVES_IN", since=1999.5)
    theirs.add_edge("b", 1, type="HAS", key="x")
    theirs.add_edge("b", "c")
    theirs.add_edge("c", "c", relation="KNOWS")
    graph = from_networkx(theirs)
    assert list(graph.nodes()) == [
        Node("1", ("Old", "Person"), {"age": 30, "sizes": (1.5, 2.0)}),
        Node("a", ("Labels", "Two"), {"trip": Temporal("duration", "P2DT3S"), "key_": "captain"}),
        Node(
            "d",
            (),
            {"built": Temporal("date", "1897-05-01"), "seen": Temporal("local datetime", "2001-04-25T12:30:01.5")},
        ),
        Node("b", ("City",), {}),
        Node("c", ("Node",), {}),
    ]
    assert list(graph.relationships()) == [
        Relationship("LIVES_IN", "1", "b", {"since": 1999.5}),
        Relationship("HAS", "b", "1", {}),
        Relationship("RELATED", "b", "c", {}),
        Relationship("KNOWS", "c", "c", {}),
    ]


def _with_node(**attributes: object) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_node("a", **attributes)
    return graph


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (nx.Graph([(1, 2)]), "undirected"),
        (nx.DiGraph([(1, "1")]), "node '1': the key '1' is there already, in node 1"),
        (_with_node(tags=[["x"]]), "node 'a', property 'tags': a value must be text, a number, a boolean"),
        (_with_node(thing=object()), "a value must be text, a number, a boolean"),
    ],
)
def test_unusable_networkx_graphs_are_errors(graph: "nx.Graph", message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        from_networkx(graph)


@given(graph=specs.map(lambda spec: generate_graph(spec, 1)) | odd_graphs())
def test_a_round_trip_gives_the_same_graph(graph: PropertyGraph) -> None:
    taken = {"label", "labels", "type"}
    assume(not any(taken & set(row.properties) for row in (*graph.nodes(), *graph.relationships())))
    again = from_networkx(to_networkx(graph))
    assert (again.digest, again.seed, again.spec) == (graph.digest, graph.seed, graph.spec)
