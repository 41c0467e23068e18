"""The nodes and relationships in tool results, for proofs and pictures."""

import doctest
import json
from dataclasses import replace
from typing import Any

import pytest

from graphwalk.analysis import observed as observed_module
from graphwalk.analysis.observed import (
    ObservedGraph,
    RelationshipPart,
    observed_graph,
    schema_pairs,
    shows_whole_schema,
)
from graphwalk.graphs.graph import Node, PropertyGraph, Relationship
from graphwalk.models.chat import Message, ToolCall, from_dict, to_dict
from graphwalk.models.trajectory import ExitStatus, ToolResult, Trajectory, Turn
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.tools.relationship_rows import relationship_in

NEAR = {"label": "Film", "property_name": "title", "property_value": "The Quiet Harbour"}
DIRECTED = {"center_key": "f1", "direction": "incoming", "type": "DIRECTED", "neighbor_label": "Person"}


def result(rows: Any, tool: str = "get_node_by_property", error: str | None = None, **arguments: Any) -> ToolResult:
    return ToolResult(ToolCall("1", tool, json.dumps(arguments)), json.dumps(rows), error, len(rows))


def directed(key: str, **more: Any) -> dict[str, Any]:
    return {**DIRECTED, "neighbor_properties": {"key": key}, "relationship_properties": {}, **more}


def near(*rows: dict[str, Any], **arguments: Any) -> ToolResult:
    return result(rows, "get_all_nearest_neighbors", **NEAR, **arguments)


def counts(observed: ObservedGraph) -> list[tuple[str, str, str, int]]:
    pairs = zip(observed.relationships, observed.parallel, strict=True)
    return [(one.type, one.source, one.target, number) for one, number in pairs]


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
    for second in (2, "2", 2.0):
        assert counts(observed_graph([page, near(directed("p1"), page=second)])) == [("DIRECTED", "p1", "f1", 3)]
    numbered = replace(page, content=f"Note: This is result 2.\n{page.content}")
    assert counts(observed_graph([page, numbered])) == [("DIRECTED", "p1", "f1", 2)]
    other_end = {**DIRECTED, "center_key": "p1", "direction": "outgoing", "neighbor_label": "Film"}
    other_end |= {"neighbor_properties": {"key": "f1"}, "relationship_properties": {}}
    assert counts(observed_graph([page, result([other_end], label="Person")])) == [("DIRECTED", "p1", "f1", 2)]


def test_a_hidden_direction_is_that_of_the_schema() -> None:
    row = {name: value for name, value in directed("p1").items() if name != "direction"}
    one_way, both = "(:Person)-[:DIRECTED]->(:Film)", "(:Film)-[:DIRECTED]->(:Person)"
    assert counts(observed_graph([near(row)], one_way)) == [("DIRECTED", "p1", "f1", 1)]
    for prompt in ("", f"{one_way} {both}"):
        observed = observed_graph([near(row)], prompt)
        assert (counts(observed), observed.hides_directions) == ([], True)
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


@pytest.mark.parametrize(
    "row",
    [
        {"keys": ["a", "b"], "labels": ["A", "B"], "types": []},
        {"keys": ["a", None], "labels": ["A", "B"], "types": ["R"]},
        {"keys": ["a", "b"], "labels": ["A", "B"], "types": ["R"], "directions": [{}]},
    ],
)
def test_paths_of_another_form_show_nothing(row: dict[str, Any]) -> None:
    path = ToolResult(ToolCall("1", "my_tool", "{}"), json.dumps([row]), rows=1, shows="path")
    observed = observed_graph([path])
    assert (observed.understood, observed.nodes, observed.relationships) == (False, {}, [])


@pytest.mark.parametrize(
    ("name", "argument", "value"),
    [("code", "12", "12"), ("code", 12, "12"), ("count", "12", 12), ("count", 12, 12)],
)
async def test_the_value_of_a_look_up_keeps_its_type(name: str, argument: str | int, value: str | int) -> None:
    nodes = [Node("s1", ("Shop",), {"code": "12", "count": 12}), Node("g1", ("Good",), {})]
    store = await EmbeddedDatabase().load(PropertyGraph.from_rows(nodes, [Relationship("SELLS", "s1", "g1", {})]))
    arguments = {"label": "Shop", "property_name": name, "property_value": argument}
    call = ToolCall("1", "get_all_nearest_neighbors", json.dumps(arguments))
    result = await GraphToolbox(store, await store.schema()).call(call)
    trajectory = Trajectory((), (Turn(Message("assistant"), results=(result,)),), ExitStatus.ANSWERED)
    logged = from_dict(Trajectory, json.loads(json.dumps(to_dict(trajectory))))
    for one in (result, *logged.results):
        shown = observed_graph([one]).nodes["s1"].properties
        assert (shown, type(shown[name])) == ({name: value}, type(value))


@pytest.mark.parametrize(
    ("arguments", "parts", "complete"),
    [
        ([{}], {RelationshipPart()}, {"f1"}),
        ([{"direction": "Incoming "}], {RelationshipPart(None, "incoming")}, set()),
        ([{"direction": "incoming"}, {"direction": "outgoing"}], None, {"f1"}),
        ([{"relationship_type": "DIRECTED"}], {RelationshipPart("DIRECTED")}, set()),
    ],
)
def test_a_filtered_look_up_shows_all_that_it_asks_for(
    arguments: list[dict[str, str]], parts: set[RelationshipPart] | None, complete: set[str]
) -> None:
    observed = observed_graph([near(directed("p1"), **one) for one in arguments])
    assert parts is None or observed.shown_of_nodes()["f1"] == parts
    assert observed.complete_nodes() == complete
    is_incoming_shown = parts is None or any(part.holds("OTHER", "incoming") for part in parts)
    assert (observed.complete_nodes("incoming") == {"f1"}) == is_incoming_shown


def test_a_value_that_was_cut_is_not_known() -> None:
    film = {"key": "f1", "title": "The quiet har… (310 characters)", "year": 1999}
    observed = observed_graph([result([{"label": "Film", "properties": film}])])
    assert observed.nodes["f1"].properties == {"year": 1999}
    assert observed.whole_properties == set()


def test_a_schema_has_patterns_for_nodes_without_labels_and_may_be_that_of_a_part() -> None:
    assert schema_pairs("()-[:NEAR]->(:A|B)") == {("", "NEAR", "A"), ("", "NEAR", "B")}
    assert schema_pairs("(:A|B)-[:R]->(:C)", several_labels=False) == {("A|B", "R", "C")}
    assert shows_whole_schema("(:A)-[:R]->(:C)")
    assert not shows_whole_schema("R; some of its relationships may have other properties\n  (:A)-[:R]->(:C)")
    assert not shows_whole_schema("R")


def test_the_worked_example_of_the_module_holds() -> None:
    outcome = doctest.testmod(observed_module)
    assert outcome.failed == 0
    assert outcome.attempted > 10
