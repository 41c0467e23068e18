"""Calls that cannot be carried out: each is a helpful text with the class of the mistake, and never an exception."""

import json
import re

import pytest
from inline_snapshot import snapshot

from graphwalk.config.agent import AgentConfig, foreign_agent
from graphwalk.errors import StoreError
from graphwalk.stores.base import GraphStore
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.types.chat import ToolCall
from graphwalk.types.graph import Node, PropertyGraph
from graphwalk.types.schema import Schema
from tests.tools.conftest import Call

NODES, VALUES = "get_node_by_property", "get_unique_property_values"


async def test_words_of_malformed_json(call: Call) -> None:
    texts = ["{", "[1]", "null", "[" * 100_000, "9" * 5000]
    assert [(await call("think", text=text)).content for text in texts] == snapshot(
        [
            "The arguments of think could not be read: Expecting property name enclosed in double quotes at character 2, so this is not JSON. Send one JSON object with the fields thought.",
            "The arguments of think could not be read: they are not an object but a list. Send one JSON object with the fields thought.",
            "The arguments of think could not be read: they are not an object but null. Send one JSON object with the fields thought.",
            "The arguments of think could not be read: they are nested too deeply. Send one JSON object with the fields thought.",
            "The arguments of think could not be read: a number in them has too many digits. Send one JSON object with the fields thought.",
        ]
    )


async def test_words_of_wrong_arguments(call: Call) -> None:
    name = "hue"
    assert {
        "nothing": (await call(NODES, text="")).content,
        "missing": (await call(NODES, label="Zorep", property_name=name)).content,
        "unexpected": (await call(NODES, label="Zorep", property_name=name, property_value="x", limit=3)).content,
        "null": (await call(NODES, label=None, property_name=name, property_value="x")).content,
        "number": (await call(NODES, label=3, property_name=name, property_value="x")).content,
        "list": (await call(NODES, label="Zorep", property_name=name, property_value=["x"])).content,
        "object": (await call(NODES, label="Zorep", property_name=name, property_value={})).content,
        "page": (await call(VALUES, AgentConfig(result_tokens=50), **_VALUES, page="2")).content,
        "page_boolean": (await call(VALUES, AgentConfig(result_tokens=50), **_VALUES, page=True)).content,
    } == snapshot(
        {
            "nothing": "get_node_by_property needs the arguments label, property_name, property_value, not given in this call. All its arguments are: label, property_name, property_value.",
            "missing": "get_node_by_property needs the argument property_value, not given in this call. All its arguments are: label, property_name, property_value.",
            "unexpected": 'get_node_by_property has no argument "limit". Its arguments are: label, property_name, property_value.',
            "null": "The argument label of get_node_by_property must be of type string, not null.",
            "number": "The argument label of get_node_by_property must be of type string, not an integer.",
            "list": "The argument property_value of get_node_by_property must be of type string or number or boolean, not a list.",
            "object": "The argument property_value of get_node_by_property must be of type string or number or boolean, not an object.",
            "page": "The argument page of get_unique_property_values must be of type integer, not a string.",
            "page_boolean": "The argument page of get_unique_property_values must be of type integer, not a boolean.",
        }
    )


_VALUES = {"property_name": "key", "entity_name": "Zorep", "entity_type": "node"}


async def test_words_of_unknown_names(call: Call) -> None:
    results = [
        await call("get_nodes_by_property", label="Zorep"),
        await call(NODES, label=":zorep", property_name="hue", property_value="x"),
        await call(NODES, label="Person", property_name="hue", property_value="x"),
        await call(NODES, label="Zorep", property_name="heu", property_value="x"),
        await call(VALUES, property_name="cost", entity_name="DARP", entity_type="relationship"),
        await call(VALUES, property_name="costs", entity_name="DRAP", entity_type="relationship"),
        await call(VALUES, property_name="cost", entity_name="DRAP", entity_type="edge"),
    ]
    assert [result.error for result in results] == ["unknown_tool"] + ["unknown_name"] * 6
    assert [result.content for result in results] == snapshot(
        [
            'There is no tool "get_nodes_by_property". Did you mean get_node_by_property or get_unique_property_values? The tools are: get_node_by_property, get_all_nearest_neighbors, get_unique_property_values, think.',
            'There is no node label ":zorep". Did you mean Zorep? The node labels are: Zorep, Blick, Odd `Label`.',
            'There is no node label "Person". The node labels are: Blick, Odd `Label`, Zorep.',
            'node Zorep has no property "heu". Did you mean hue? The properties of node Zorep are: hue, count, key, live, mass, type_.',
            'There is no relationship type "DARP". Did you mean DRAP? The relationship types are: DRAP, FLIN.',
            'relationship DRAP has no property "costs". Did you mean cost? The properties of relationship DRAP are: cost, tag.',
            'The argument entity_type must be "node" or "relationship", not "edge".',
        ]
    )


async def test_long_values_are_not_sent_back(call: Call) -> None:
    megabytes = "x" * 10_000_000
    for name, label, value in [("hue", megabytes, "x"), (megabytes, "Zorep", "x"), ("hue", "Zorep", megabytes)]:
        result = await call(NODES, label=label, property_name=name, property_value=value)
        assert len(result.content) < 400
    assert len((await call(megabytes)).content) < 400
    unexpected = await call(
        NODES, text=json.dumps({"label": "a", "property_name": "b", "property_value": 1, megabytes: 1})
    )
    assert len(unexpected.content) < 400


@pytest.mark.parametrize("value", ["\ud800", 2**63, -(2**63) - 1, 10**400, "\0", "", "1e999", "9" * 300, 1e308])
async def test_values_that_no_property_can_have(call: Call, value: object) -> None:
    result = await call(NODES, label="Zorep", property_name="mass", property_value=value)
    assert (result.error, result.rows) == (None, 0)
    result.content.encode()  # what is repeated of the value can be sent


async def test_a_failing_store_is_not_the_models_mistake(store: GraphStore, schema: Schema) -> None:
    toolbox = GraphToolbox(store, schema)
    await store.drop()
    arguments = {"label": "Zorep", "property_name": "hue", "property_value": "vark"}
    with pytest.raises(StoreError):
        await toolbox.call(ToolCall("1", NODES, json.dumps(arguments)))


async def many_labels() -> tuple[GraphStore, Schema]:
    nodes = [Node(f"n{number}", (f"Label{number:03}",), {}) for number in range(300)]
    nodes.append(Node("bare", (), {f"p{number:02}": 1 for number in range(30)}))
    store = await EmbeddedDatabase().load(PropertyGraph.from_rows(nodes, []))
    return store, await store.schema()


@pytest.mark.parametrize("agent", [AgentConfig(), foreign_agent()])
async def test_of_many_names_the_closest_are_listed(agent: AgentConfig) -> None:
    toolbox = GraphToolbox(*await many_labels(), agent=agent)

    async def refused(label: str, name: str) -> str:
        given = json.dumps({"label": label, "property_name": name, "property_value": 1})
        result = await toolbox.call(ToolCall("1", NODES, given))
        assert result.error == "unknown_name"
        return result.content

    closer = agent.schema_tokens is not None
    label = await refused("Labl123", "p01")
    listed = label.partition("The node labels are: ")[2]
    assert listed.startswith("Label123, ")
    assert len(re.findall(r"Label\d{3}", listed)) == 10
    assert ", and 291 more." in listed
    assert ("get_schema shows what is known of one of them." in listed) is closer
    property_ = await refused("(no label)", "q01")
    assert ", and 21 more." in property_
    assert ("get_schema shows all of them." in property_) is closer
    assert len(await refused("x" * 10_000, "p01")) < 600


@pytest.mark.parametrize("label", ['""', "", "(no label)"])
async def test_nodes_without_a_label_go_by_each_name_that_is_shown_for_them(label: str) -> None:
    toolbox = GraphToolbox(*await many_labels(), agent=foreign_agent())
    look_up = json.dumps({"label": label, "property_name": "p01", "property_value": 1})
    assert (await toolbox.call(ToolCall("1", NODES, look_up))).rows == 1
    entity = json.dumps({"entity_name": label, "entity_type": "node"})
    described = await toolbox.call(ToolCall("2", "get_schema", entity))
    assert described.error is None
    assert described.content.startswith("Node labels:\n(no label)\n  key")
