"""Graphs of a user: names that queries cannot write are changed, and named."""

import warnings
from pathlib import Path

import pytest

from graphwalk.config.graph_source import GraphSource
from graphwalk.graphs.files import save_graph
from graphwalk.graphs.graph import Node, PropertyGraph
from graphwalk.stores.sources import read_file


def test_changed_names_are_printed(tmp_path: Path) -> None:
    path = tmp_path / "names.json"
    save_graph(PropertyGraph.from_rows([Node("a", ("Größe",), {"type": 1, "name": "x"})], []), path)
    with pytest.warns(UserWarning, match="names.json: names in queries: Größe → Grosse, type → type_"):
        graph = read_file(GraphSource(file=path))
    assert [node.labels for node in graph.nodes()] == [("Grosse",)]


def test_safe_names_are_not_mentioned() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_file(GraphSource(file=Path("example")))
