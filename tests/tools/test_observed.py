"""The nodes and relationships in tool results, for scores, pictures and scripted agents."""

import json
from typing import Any

import pytest

from graphwalk.tools.observed import ObservedGraph, observed_graph, relationship_in, schema_pairs
from graphwalk.types.chat import ToolCall
from graphwalk.types.episode import ToolResult

NEAR = {"label": "Film", "property_name": "title", "property_value": "The Quiet Harbour"}
DIRECTED = {"center_key": "f1", "direction": "incoming", "type": "DIRECTED", "neighbor_label": "Person"}


def result(rows: Any, tool: str = "get_node_by_property", error: str | None = None, **arguments: Any) -> ToolResult:
    return ToolResult(ToolCall("1", tool, json.dumps(arguments)), json.dumps(rows), error, len(rows))


def directed(key: str, **more: Any) -> dict[str, Any]:
    return {**DIRECTED, "neighbor_properties": {"key": key}, "relationship_properties": {}, **more}


def near(*rows: dict[str, Any], **arguments: Any) -> ToolResult:
    return result(rows, "get_all_nearest_neighbors", **NEAR, **arguments)


def counts(observed: ObservedGraph) -> list[tuple[str, str, str, int]]:
    return [(one.type, one.source, one.target, one.count) for one in observed.relationships.values()]


def test_all_that_results_show_of_a_node_is_put_together() -> None:
    film = result([{"label": "Film", "properties": {"key": "f1", "year": 1999, "genre": "noir"}}])
    observed = observed_graph([near(directed("p1"), directed("p2")), film])
    assert observed.nodes["f1"].labels == ("Film",)
    assert observed.nodes["f1"].properties == {"title": "The Quiet Harbour", "year": 1999, "genre": "noir"}
    assert counts(observed) == [("DIRECTED", "p1", "f1", 1), ("DIRECTED", "p2", "f1", 1)]


def test_parallel_relationships_are_counted_and_a_page_that_comes_again_is_not() -> None:
    page = near(directed("p1"), directed("p1"), page=1)
    assert counts(observed_graph([page])) == [("DIRECTED", "p1", "f1", 2)]
    assert counts(observed_graph([page, page])) == [("DIRECTED", "p1", "f1", 2)]
    other_end = {**DIRECTED, "center_key": "p1", "direction": "outgoing", "neighbor_label": "Film"}
    other_end |= {"neighbor_properties": {"key": "f1"}, "relationship_properties": {}}
    assert counts(observed_graph([page, result([other_end], label="Person")])) == [("DIRECTED", "p1", "f1", 2)]


def test_a_hidden_direction_is_that_of_the_schema() -> None:
    row = {name: value for name, value in directed("p1").items() if name != "direction"}
    one_way, both = "(:Person)-[:DIRECTED]->(:Film)", "(:Film)-[:DIRECTED]->(:Person)"
    assert counts(observed_graph([near(row)], one_way)) == [("DIRECTED", "p1", "f1", 1)]
    for prompt in ("", f"{one_way} {both}"):
        observed = observed_graph([near(row)], prompt)
        assert (counts(observed), observed.hidden_direction) == ([], True)
    read = relationship_in(row, "Film", schema_pairs(f"{one_way} {both}"))
    assert read is not None
    assert (read.source, read.outgoing, read.directed) == ("f1", True, False)


@pytest.mark.parametrize(
    "rows",
    [
        [{"label": "A"}],
        [{"properties": 3}],
        [{"properties": {"key": None}}],
        [{"neighbor_properties": {"key": "a"}, "center_key": ["x"]}],
        [{"values": {"a": 1}}],
        [7],
    ],
)
def test_rows_of_another_form_show_nothing(rows: Any) -> None:
    observed = observed_graph([result(rows, entity_type="node", entity_name="A", property_name="key")])
    assert not observed.relationships
    assert not observed.understood


def test_mistakes_show_nothing() -> None:
    assert not observed_graph([result([{"properties": {"key": "a"}}], error="bad_json")]).nodes


def test_schema_equals_the_prompts() -> None:
    text = "1 | Relationship | R | (:A)-[:R]->(:Odd `b`) | w\n2 | Node | A | (:A) | p"
    assert schema_pairs(text) == {("A", "R", "Odd `b`")}
    assert schema_pairs("nothing") == frozenset()
