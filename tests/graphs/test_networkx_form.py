import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings

from graphwalk.errors import ConfigError
from graphwalk.graphs.networkx_form import from_networkx, to_networkx
from graphwalk.graphs.random.generate import generate_graph
from graphwalk.graphs.random.spec import GraphSpec
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from tests.graphs.graphs import specs


@settings(max_examples=30, deadline=None)
@given(spec=specs)
def test_a_round_trip_gives_the_same_graph(spec: GraphSpec) -> None:
    graph = generate_graph(spec, 1)
    again = from_networkx(to_networkx(graph))
    assert (again.digest, again.seed, again.spec) == (graph.digest, graph.seed, graph.spec)


def test_somebody_elses_graph_is_understood() -> None:
    theirs = nx.MultiDiGraph()
    theirs.add_node(1, labels=["Person"], key="1", age=np.int64(30), nickname=None)
    theirs.add_node("b", label="City")
    theirs.add_edge(1, "b", key="LIVES_IN", since=1999.5)
    theirs.add_edge("b", 1, type="HAS", key="x")
    theirs.add_edge("b", "c")
    graph = from_networkx(theirs)
    assert list(graph.nodes()) == [
        Node("1", ("Person",), {"age": 30}),
        Node("b", ("City",), {}),
        Node("c", ("Node",), {}),
    ]
    assert list(graph.relationships()) == [
        Relationship("LIVES_IN", "1", "b", {"since": 1999.5}),
        Relationship("HAS", "b", "1", {}),
        Relationship("RELATED", "b", "c", {}),
    ]


def test_simple_directed_graphs_work_too() -> None:
    assert [r.type for r in from_networkx(nx.DiGraph([("a", "b", {"relation": "KNOWS"})])).relationships()] == ["KNOWS"]


def _with_node(**attributes: object) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_node("a", **attributes)
    return graph


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (nx.Graph([(1, 2)]), "undirected"),
        (nx.DiGraph([(1, "1")]), "two nodes have the same key '1'"),
        (_with_node(tags=["x"]), "node 'a', property 'tags': a value must be text, a number or a boolean"),
        (_with_node(labels=":One:Two"), "node 'a' has the labels One, Two"),
        (_with_node(key="other"), "node 'a': 'key' is the key of the node"),
    ],
)
def test_what_cannot_be_used_is_a_clear_error(graph: "nx.Graph", message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        from_networkx(graph)


def test_a_property_that_would_hide_the_label_is_refused() -> None:
    with pytest.raises(ConfigError, match="a has a property 'label'"):
        to_networkx(PropertyGraph.from_rows([Node("a", ("A",), {"label": "x"})], []))
