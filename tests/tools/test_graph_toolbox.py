"""The results of the tools, and the effect of the ablation switches."""

import json

import pytest
from inline_snapshot import snapshot

from graphwalk.config.agent import AgentConfig, foreign_agent
from graphwalk.graphs.graph import Node, PropertyGraph, Relationship
from graphwalk.graphs.schema import Schema
from graphwalk.models.chat import ToolCall
from graphwalk.models.trajectory import ToolResult
from graphwalk.stores.base import GraphStore
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.tools.encodings import decode_notes, next_pages, read_rows
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.tools.tool import load_tools
from tests.tools.conftest import Call

NODES, NEIGHBORS, VALUES = "get_node_by_property", "get_all_nearest_neighbors", "get_unique_property_values"


async def test_nodes_come_with_label_and_all_properties(call: Call) -> None:
    result = await call(NODES, label="Zorep", property_name="hue", property_value="vark")
    assert (result.error, result.rows) == (None, 2)
    assert read_rows(result.content) == snapshot(
        [
            {"label": "Zorep", "properties": {"key": "z1", "count": 3, "hue": "vark", "live": True, "mass": 1.5}},
            {"label": "Zorep", "properties": {"key": "z2", "count": 4, "hue": "vark", "live": False, "mass": 2.0}},
        ]
    )


async def test_one_row_per_relationship_and_direction(call: Call) -> None:
    """Parallel relationships are two rows; one that ends where it begins is outgoing and incoming."""
    result = await call(NEIGHBORS, label="Zorep", property_name="key", property_value="z1")
    rows = read_rows(result.content)
    assert [
        (row["direction"], row["neighbor_properties"]["key"], row["relationship_properties"].get("cost"))
        for row in rows
    ] == [
        ("incoming", "12", None),
        ("incoming", "z1", 1.0),
        ("outgoing", "z1", 1.0),
        ("outgoing", "z2", 0.5),
        ("outgoing", "z2", 2.5),
    ]
    assert {(row["center_key"], row["type"]) for row in rows} == {("z1", "DRAP")}
    assert rows[0]["neighbor_label"] == "Blick"


@pytest.mark.parametrize(
    ("type_", "name", "entity", "values"),
    [
        ("node", "key", "Zorep", ["z1", "z2", "z3"]),
        ("NODE", "mass", "Zorep", [1.5, 2.0]),
        ("node", "live", "Zorep", [False, True]),
        ("node", "a b", "Odd `Label`", ["x"]),
        ("Relationship", "cost", "DRAP", [0.5, 1.0, 2.5]),
    ],
)
async def test_values_are_sorted_distinct_and_keep_their_type(
    call: Call, type_: str, name: str, entity: str, values: list[object]
) -> None:
    result = await call(VALUES, property_name=name, entity_name=entity, entity_type=type_)
    assert repr([row["values"] for row in read_rows(result.content)]) == repr(values)


async def test_think_returns_the_thought_unchanged(call: Call) -> None:
    result = await call("think", text='{"thought": " a\\n\\ud800 {{ b }} "}')
    assert (result.content, result.error, result.rows) == (" a\n\ud800 {{ b }} ", None, None)


async def test_a_number_as_text_is_tried_as_a_number(call: Call) -> None:
    result = await call(NODES, label="Zorep", property_name="mass", property_value=" 1.50 ")
    assert [row["properties"]["key"] for row in read_rows(result.content)] == ["z1"]
    assert decode_notes(result.content) == [
        'nothing equals the text " 1.50 "; these are the results for the number 1.5.'
    ]


@pytest.mark.parametrize(
    ("tool", "label", "name", "value", "rows"),
    [
        (NEIGHBORS, "Blick", "key", 12, 1),
        (NODES, "Blick", "name", True, 1),
        (NODES, "Blick", "id_", 7, 1),
        (NODES, "Zorep", "live", "true", 1),
        (NODES, "Zorep", "live", 1, 0),
        (NODES, "Zorep", "mass", 2, 2),
        (NODES, "Zorep", "hue", "VARK", 0),
    ],
)
async def test_a_value_is_read_another_way_and_a_boolean_is_no_number(
    call: Call, tool: str, label: str, name: str, value: object, rows: int
) -> None:
    result = await call(tool, label=label, property_name=name, property_value=value)
    assert (result.error, result.rows) == (None, rows)


async def test_text_that_matches_is_never_read_another_way(call: Call) -> None:
    """z3 has the text "3" and no relationships; that z1 counts 3 must not be mixed up with it."""
    result = await call(NODES, label="Zorep", property_name="hue", property_value="3")
    assert decode_notes(result.content) == []
    alone = await call(NEIGHBORS, label="Zorep", property_name="hue", property_value="3")
    assert (alone.rows, decode_notes(alone.content)) == (
        0,
        ['nodes with label Zorep and hue = "3" exist, but have no relationships.'],
    )


async def test_switches_leave_fields_out(call: Call) -> None:
    agent = AgentConfig(relationship_properties=False, direction=False)
    result = await call(NEIGHBORS, agent, label="Zorep", property_name="key", property_value="z1")
    rows = read_rows(result.content)
    assert [row["neighbor_properties"]["key"] for row in rows] == ["12", "z1", "z2", "z2"], "a loop is one row"
    assert all(row.keys().isdisjoint({"direction", "relationship_properties"}) for row in rows)


async def test_pages_add_up_to_the_whole(call: Call) -> None:
    arguments = {"label": "Zorep", "property_name": "hue", "property_value": "vark"}
    whole = read_rows((await call(NEIGHBORS, **arguments)).content)
    agent = AgentConfig(result_tokens=100)
    rows, page = [], 1
    while page is not None:
        result = await call(NEIGHBORS, agent, page=page, **arguments)
        assert result.rows == len(whole)
        rows += read_rows(result.content)
        page = next(iter(next_pages(result.content)), None)
    assert rows == whole


async def test_page_note_counts_rows(call: Call) -> None:
    arguments = {"property_name": "key", "entity_name": "Zorep", "entity_type": "node"}
    agent = AgentConfig(result_tokens=20)
    assert decode_notes((await call(VALUES, agent, **arguments)).content) == [
        'page 1, rows 1 to 2 of 3 in all. For the next page repeat the call with "page": 2.'
    ]
    assert decode_notes((await call(VALUES, agent, page=2, **arguments)).content) == [
        "page 2 of 2, rows 3 to 3 of 3 in all."
    ]
    for outside, offered in ((3, agent), (1, None)):
        assert (await call(VALUES, offered, page=outside, **arguments)).error == "bad_arguments"


async def test_encodings_hold_the_same_rows(call: Call) -> None:
    arguments = {"label": "Blick", "property_name": "name", "property_value": "true"}
    plain = await call(NEIGHBORS, **arguments)
    encoded = await call(NEIGHBORS, AgentConfig(encoding="compact"), **arguments)
    assert read_rows(encoded.content) == read_rows(plain.content)
    assert encoded.content.startswith('[["center_key","direction","type",')


async def test_descriptions_follow_the_switches(store: GraphStore, schema: Schema) -> None:
    agent = AgentConfig(direction=False, relationship_properties=False, encoding="compact", result_tokens=50)
    spec = GraphToolbox(store, schema, agent=agent).specs[1]
    assert '"direction"' not in spec.description
    assert "relationship_properties" not in spec.description
    assert spec.description.endswith('["f7","DIRECTED","Person",{"key":"p3","name":"Ida"}]]')
    page = spec.parameters["properties"]["page"]
    assert (page["type"], page["minimum"], "comes in pages" in page["description"]) == ("integer", 1, True)
    assert "page" not in spec.parameters["required"]


HUB = PropertyGraph.from_rows(
    [Node("hub", ("Hub", "Town"), {}), *(Node(f"n{n}", ("Leaf",), {"n": n, "text": "x" * 500}) for n in range(1200))],
    [Relationship("AT", f"n{n}", "hub", {}) for n in range(1200)],
)


async def neighbors_of_hub(agent: AgentConfig) -> ToolResult:
    store = await EmbeddedDatabase().load(HUB)
    arguments = {"label": "Hub", "property_name": "key", "property_value": "hub"}
    toolbox = GraphToolbox(store, await store.schema(), agent=agent)
    return await toolbox.call(ToolCall("1", NEIGHBORS, json.dumps(arguments)))


async def test_long_values_of_a_users_graph_are_cut() -> None:
    assert "… (500 characters)" in (await neighbors_of_hub(foreign_agent())).content
    whole = await neighbors_of_hub(AgentConfig())
    assert (len(read_rows(whole.content)), "…" in whole.content) == (1200, False)


async def test_a_slow_call_becomes_tool_text() -> None:
    result = await neighbors_of_hub(foreign_agent(AgentConfig(call_seconds=0.001)))
    assert (result.error, "given up" in result.content) == ("timeout", True)


async def cypher(store: GraphStore, query: str) -> ToolResult:
    toolbox = GraphToolbox(store, await store.schema(), load_tools(["run_cypher"]), AgentConfig(call_seconds=1.0))
    return await toolbox.call(ToolCall("1", "run_cypher", json.dumps({"query": query})))


async def test_rows_of_a_query_keep_their_order_and_a_note_counts_the_rest(
    store: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphwalk.tools.graph_toolbox.MOST_ROWS", 2)
    result = await cypher(store, "MATCH (n:Zorep) RETURN n.key AS key ORDER BY key DESC")
    assert read_rows(result.content) == [{"key": "z3"}, {"key": "z2"}]
    assert "first 2 rows" in decode_notes(result.content)[0]
    empty = await cypher(store, "MATCH (n {key: 'nobody'}) RETURN n")
    assert (empty.error, "no rows" in empty.content) == (None, True)


@pytest.mark.parametrize(
    "query",
    [
        "MATCH (a)-[*1..30]-(b) RETURN count(*)",
        "WITH 'xxxxxxxxxx' AS s " + "WITH s + s AS s " * 60 + "RETURN size(s) AS n",
        *(
            pytest.param(query, marks=pytest.mark.extended)
            for query in (
                "RETURN [x IN range(1, 10000000000) | x] AS l",
                "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN collect(a + b) AS l",
                "RETURN reduce(l = [], x IN range(1, 100000000) | l + x) AS l",
                "WITH [1, 1] AS s " + "WITH [s, s, s, s, s, s, s, s] AS s " * 60 + "RETURN s",
                "RETURN " + "(" * 1900 + "1" + ")" * 1900,
            )
        ),
    ],
)
async def test_a_query_that_explodes_ends_in_time_and_the_next_is_answered(store: GraphStore, query: str) -> None:
    """Each ends by a limit of the engine."""
    assert (await cypher(store, query)).error in ("timeout", "too_large", "query_error", None)
    assert (await cypher(store, "RETURN 1 AS one")).rows == 1
