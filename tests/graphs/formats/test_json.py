"""JSON of other programs: its field names, and no need of a version number."""

import json
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from graphwalk.errors import ConfigError
from graphwalk.graphs.files import load_graph
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from graphwalk.types.values import Point, Temporal


def read(tmp_path: Path, document: Any, **options: Any) -> PropertyGraph:
    path = tmp_path / "g.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return load_graph(path, **options)


def test_labels_names_and_values_without_a_version(tmp_path: Path) -> None:
    graph = read(
        tmp_path,
        {
            "nodes": [
                {"id": 7, "labels": ["Ship", "Old"], "properties": {"built": {"$date": "1897-05-01"}, "key": "oak"}},
                {"label": "Port", "properties": {"at": {"$point": {"srid": 4326, "x": 12.5, "y": 55.7}}, "gone": None}},
                {"key": "c"},
            ],
            "relationships": [{"type": "CALLED", "source": 7, "target": "1", "properties": {"days": [1, 2.5]}}],
        },
    )
    assert list(graph.nodes()) == [
        Node("7", ("Old", "Ship"), {"built": Temporal("date", "1897-05-01"), "key_": "oak"}),
        Node("1", ("Port",), {"at": Point(4326, (12.5, 55.7))}),
        Node("c", (), {}),
    ]
    assert list(graph.relationships()) == [Relationship("CALLED", "7", "1", {"days": (1.0, 2.5)})]


@pytest.mark.parametrize("edges", ["links", "edges"])
def test_node_link_json_of_networkx(edges: str, tmp_path: Path) -> None:
    theirs = nx.MultiDiGraph()
    theirs.add_node("a", label="Person", age=3)
    theirs.add_edge("a", "b", key="KNOWS", since=1999)
    theirs.add_edge("a", "b")
    graph = read(tmp_path, nx.node_link_data(theirs, edges=edges))
    assert list(graph.nodes()) == [Node("a", ("Person",), {"age": 3}), Node("b", ("Node",), {})]
    assert list(graph.relationships()) == [
        Relationship("KNOWS", "a", "b", {"since": 1999}),
        Relationship("RELATED", "a", "b", {}),
    ]


def test_undirected_node_link_json_is_read_both_ways_by_choice(tmp_path: Path) -> None:
    document = nx.node_link_data(nx.Graph([(1, 2), (2, 2)]), edges="links")
    with pytest.raises(ConfigError, match=r'the graph is undirected; .*undirected="both"'):
        read(tmp_path, document)
    ends = [(r.source, r.target) for r in read(tmp_path, document, undirected="both").relationships()]
    assert ends == [("1", "2"), ("2", "1"), ("2", "2")]
