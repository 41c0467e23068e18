"""The results of the tools, and the effect of the ablation switches."""

import pytest
from inline_snapshot import snapshot

from graphwalk.config.agent import AgentConfig
from graphwalk.stores.base import GraphStore
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.types.encodings import decode_notes, decode_rows, next_pages
from graphwalk.types.schema import Schema
from tests.tools.conftest import Call

NODES, NEIGHBORS, VALUES = "get_node_by_property", "get_all_nearest_neighbors", "get_unique_property_values"


async def test_nodes_come_with_label_and_all_properties(call: Call) -> None:
    result = await call(NODES, label="Zorep", property_name="hue", property_value="vark")
    assert (result.error, result.rows) == (None, 2)
    assert decode_rows(result.content) == snapshot(
        [
            {"label": "Zorep", "properties": {"key": "z1", "count": 3, "hue": "vark", "live": True, "mass": 1.5}},
            {"label": "Zorep", "properties": {"key": "z2", "count": 4, "hue": "vark", "live": False, "mass": 2.0}},
        ]
    )


async def test_one_row_per_relationship_and_direction(call: Call) -> None:
    """Parallel relationships are two rows; one that ends where it begins is outgoing and incoming."""
    result = await call(NEIGHBORS, label="Zorep", property_name="key", property_value="z1")
    assert result.content == snapshot(
        '[{"center_key": "z1", "direction": "incoming", "type": "DRAP", "neighbor_label": "Blick", "neighbor_properties": {"key": "12", "id_": 7, "name": "Ünï `tick` \\"quote\\" \'q\', comma\\nline"}, "relationship_properties": {}}, {"center_key": "z1", "direction": "incoming", "type": "DRAP", "neighbor_label": "Zorep", "neighbor_properties": {"key": "z1", "count": 3, "hue": "vark", "live": true, "mass": 1.5}, "relationship_properties": {"cost": 1.0}}, {"center_key": "z1", "direction": "outgoing", "type": "DRAP", "neighbor_label": "Zorep", "neighbor_properties": {"key": "z1", "count": 3, "hue": "vark", "live": true, "mass": 1.5}, "relationship_properties": {"cost": 1.0}}, {"center_key": "z1", "direction": "outgoing", "type": "DRAP", "neighbor_label": "Zorep", "neighbor_properties": {"key": "z2", "count": 4, "hue": "vark", "live": false, "mass": 2.0}, "relationship_properties": {"cost": 0.5}}, {"center_key": "z1", "direction": "outgoing", "type": "DRAP", "neighbor_label": "Zorep", "neighbor_properties": {"key": "z2", "count": 4, "hue": "vark", "live": false, "mass": 2.0}, "relationship_properties": {"cost": 2.5, "tag": "p"}}]'
    )


async def test_values_are_sorted_distinct_and_keep_their_type(call: Call) -> None:
    keys = await call(VALUES, property_name="key", entity_name="Zorep", entity_type="node")
    assert keys.content == '[{"values": "z1"}, {"values": "z2"}, {"values": "z3"}]'
    mass = await call(VALUES, property_name="mass", entity_name="Zorep", entity_type="NODE")
    assert mass.content == '[{"values": 1.5}, {"values": 2.0}]'
    live = await call(VALUES, property_name="live", entity_name="Zorep", entity_type="Node")
    assert live.content == '[{"values": false}, {"values": true}]'
    cost = await call(VALUES, property_name="cost", entity_name="DRAP", entity_type="Relationship")
    assert cost.content == '[{"values": 0.5}, {"values": 1.0}, {"values": 2.5}]'


async def test_odd_names_and_values(call: Call) -> None:
    odd = await call(NODES, label="Odd `Label`", property_name="a b", property_value="x")
    assert odd.content == '[{"label": "Odd `Label`", "properties": {"key": "lone", "a b": "x"}}]'
    own = await call(NODES, label="Blick", property_name="id_", property_value=7)
    assert own.rows == 1


async def test_think_returns_the_thought_unchanged(call: Call) -> None:
    result = await call("think", text='{"thought": " a\\n\\ud800 {{ b }} "}')
    assert (result.content, result.error, result.rows) == (" a\n\ud800 {{ b }} ", None, None)


async def test_a_number_as_text_is_tried_as_a_number(call: Call) -> None:
    result = await call(NODES, label="Zorep", property_name="mass", property_value=" 1.50 ")
    assert result.content == snapshot("""\
Note: nothing equals the text " 1.50 "; these are the results for the number 1.5.
[{"label": "Zorep", "properties": {"key": "z1", "count": 3, "hue": "vark", "live": true, "mass": 1.5}}]\
""")
    whole = await call(NEIGHBORS, label="Zorep", property_name="count", property_value="4")
    assert (whole.rows, decode_notes(whole.content)) == (
        3,
        snapshot(['nothing equals the text "4"; these are the results for the number 4.']),
    )


@pytest.mark.parametrize(
    ("tool", "label", "name", "value", "rows"),
    [
        (NEIGHBORS, "Blick", "key", 12, 1),
        (NODES, "Blick", "name", True, 1),
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
    assert alone.content == snapshot("""\
Note: nodes with label Zorep and hue = "3" exist, but have no relationships.
[]\
""")


async def test_without_relationship_properties(call: Call) -> None:
    agent = AgentConfig(relationship_properties=False)
    result = await call(NEIGHBORS, agent, label="Zorep", property_name="key", property_value="z1")
    assert result.rows == 5
    assert all("relationship_properties" not in row for row in decode_rows(result.content))
    assert "cost" not in result.content


async def test_undirected_rows_show_no_direction(call: Call) -> None:
    agent = AgentConfig(direction=False)
    result = await call(NEIGHBORS, agent, label="Zorep", property_name="key", property_value="z1")
    rows = decode_rows(result.content)
    assert [(row["type"], row["neighbor_properties"]["key"]) for row in rows] == [
        ("DRAP", "12"),
        ("DRAP", "z1"),
        ("DRAP", "z2"),
        ("DRAP", "z2"),
    ]
    assert all("direction" not in row for row in rows)


async def test_pages_add_up_to_the_whole(call: Call) -> None:
    arguments = {"label": "Zorep", "property_name": "hue", "property_value": "vark"}
    whole = decode_rows((await call(NEIGHBORS, **arguments)).content)
    agent = AgentConfig(result_tokens=100)
    rows, page = [], 1
    while page is not None:
        result = await call(NEIGHBORS, agent, page=page, **arguments)
        assert result.rows == len(whole)
        rows += decode_rows(result.content)
        page = next(iter(next_pages(result.content)), None)
    assert rows == whole


async def test_page_note_counts_rows(call: Call) -> None:
    arguments = {"property_name": "key", "entity_name": "Zorep", "entity_type": "node"}
    agent = AgentConfig(result_tokens=20)
    assert (await call(VALUES, agent, **arguments)).content == snapshot("""\
Note: page 1, rows 1 to 2 of 3 in all. For the next page repeat the call with "page": 2.
[{"values": "z1"}, {"values": "z2"}]\
""")
    assert (await call(VALUES, agent, page=2, **arguments)).content == snapshot("""\
Note: page 2 of 2, rows 3 to 3 of 3 in all.
[{"values": "z3"}]\
""")
    outside = await call(VALUES, agent, page=3, **arguments)
    assert (outside.error, outside.content) == snapshot(
        ("bad_arguments", "There is no page 3: 3 rows in all make 2 pages, counted from 1.")
    )
    without_budget = await call(VALUES, page=1, **arguments)
    assert without_budget.error == "bad_arguments"


async def test_encodings_hold_the_same_rows(call: Call) -> None:
    arguments = {"label": "Blick", "property_name": "name", "property_value": "true"}
    plain = await call(NEIGHBORS, **arguments)
    encoded = await call(NEIGHBORS, AgentConfig(encoding="compact"), **arguments)
    assert decode_rows(encoded.content, "compact") == decode_rows(plain.content)
    assert encoded.content.startswith('[["center_key","direction","type",')


async def test_a_specification_has_the_form_of_the_api(store: GraphStore, schema: Schema) -> None:
    function = GraphToolbox(store, schema).specs[2].as_openai()["function"]
    assert function["name"] == VALUES
    assert function["description"].startswith("Lists the different values that one property takes")
    parameters = function["parameters"]
    names = ["property_name", "entity_name", "entity_type"]
    assert [*parameters["properties"]] == parameters["required"] == names
    assert parameters["properties"]["entity_type"]["enum"] == ["node", "relationship"]
    assert not parameters["additionalProperties"]


async def test_descriptions_follow_the_switches(store: GraphStore, schema: Schema) -> None:
    agent = AgentConfig(direction=False, relationship_properties=False, encoding="compact", result_tokens=50)
    spec = GraphToolbox(store, schema, agent=agent).specs[1]
    assert '"direction"' not in spec.description
    assert "relationship_properties" not in spec.description
    assert spec.description.endswith('["f7","DIRECTED","Person",{"key":"p3","name":"Ida"}]]')
    page = spec.parameters["properties"]["page"]
    assert (page["type"], page["minimum"], "comes in pages" in page["description"]) == ("integer", 1, True)
    assert "page" not in spec.parameters["required"]
