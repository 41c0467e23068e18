"""JSON of other programs: its field names, and no need of a version number."""

import json
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from graphwalk.errors import ConfigError
from graphwalk.graphs.files import load_graph
from graphwalk.graphs.graph import Node, PropertyGraph, Relationship
from graphwalk.graphs.values import Point, Temporal


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


def test_the_form_of_networkx_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the form of networkx"):
        read(tmp_path, nx.node_link_data(nx.DiGraph([(1, 2)]), edges="links"))


def test_fields_beside_properties_are_properties(tmp_path: Path) -> None:
    node = {"id": "a", "label": "Person", "born": 1960, "properties": {"name": "Ida"}}
    edge = {"id": 7, "source": "a", "target": "a", "type": "KNOWS", "since": float("nan")}
    graph = read(tmp_path, {"nodes": [node], "relationships": [edge]})
    assert list(graph.nodes()) == [Node("a", ("Person",), {"name": "Ida", "born": 1960})]
    (relationship,) = graph.relationships()
    assert repr(relationship.properties) == "{'id': 7, 'since': nan}"
    with pytest.raises(ConfigError, match=r"nodes\[0\] has 'born' twice"):
        read(tmp_path, {"nodes": [node | {"properties": {"born": 1961}}], "relationships": []})
