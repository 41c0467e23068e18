"""GraphML of other programs."""

from pathlib import Path

import networkx as nx
import pytest

from graphwalk.errors import ConfigError
from graphwalk.graphs.files import load_graph
from graphwalk.graphs.graph import Node, Relationship


def test_graphml_of_neo4j(tmp_path: Path) -> None:
    (tmp_path / "g.graphml").write_text(
        '<?xml version="1.0" encoding="UTF-8"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
        '<key id="name" for="node" attr.name="name"/><key id="labels" for="node" attr.name="labels"/>'
        '<key id="tags" for="node" attr.name="tags" attr.type="string" attr.list="string"/>'
        '<key id="label" for="edge" attr.name="label"/><graph id="G" edgedefault="directed">'
        '<node id="n0" labels=":Movie:Old"><data key="labels">:Movie:Old</data><data key="name">It</data>'
        '<data key="tags">["a","b"]</data></node><node id="n1"/>'
        '<edge id="e0" source="n0" target="n1" label="LIKES"><data key="label">LIKES</data></edge></graph></graphml>'
    )
    graph = load_graph(tmp_path / "g.graphml")
    assert list(graph.nodes()) == [
        Node("n0", ("Movie", "Old"), {"name": "It", "tags": ("a", "b")}),
        Node("n1", ("Node",), {}),
    ]
    assert list(graph.relationships()) == [Relationship("LIKES", "n0", "n1", {})]


def test_undirected_edges_are_read_both_ways_by_choice(tmp_path: Path) -> None:
    nx.write_graphml_xml(nx.les_miserables_graph(), tmp_path / "g.graphml")
    with pytest.raises(ConfigError, match=r"the edge from .* is undirected"):
        load_graph(tmp_path / "g.graphml")
    graph = load_graph(tmp_path / "g.graphml", undirected="both")
    assert (graph.node_count, graph.relationship_count) == (77, 508)


def test_files_named_by_an_entity_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "g.graphml").write_text(
        '<!DOCTYPE graphml [<!ENTITY a SYSTEM "file:///etc/hostname">]>'
        '<graphml><graph edgedefault="directed"><node id="a">&a;</node></graph></graphml>'
    )
    with pytest.raises(ConfigError, match="undefined entity"):
        load_graph(tmp_path / "g.graphml")
