"""The graph that ships with GraphWalk, by its name."""

from pathlib import Path

import pytest

from graphwalk.graphs.files import load_graph, save_graph
from graphwalk.types.values import Point, Temporal


def test_example_graph_has_typical_features() -> None:
    graph = load_graph("example")
    nodes = list(graph.nodes())
    assert 60 <= len(nodes) <= 120
    assert {len(node.labels) for node in nodes} == {1, 2, 3}
    values = [value for node in nodes for value in node.properties.values()]
    kinds = {value.kind for value in values if isinstance(value, Temporal)}
    assert kinds == {"date", "local time", "local datetime", "duration"}
    assert {Point, tuple, str, int, float, bool} <= {type(value) for value in values}
    ends = [(r.type, r.source, r.target) for r in graph.relationships()]
    assert any(source == target for _, source, target in ends)
    assert all(node.properties.get("name", node.key) == node.key for node in nodes)


def test_a_file_of_that_name_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save_graph(load_graph("example"), "other.json")
    Path("example").mkdir()
    Path("example/nodes.csv").write_text(":ID\na\n")
    assert [node.key for node in load_graph("example").nodes()] == ["a"]
