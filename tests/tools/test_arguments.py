"""Calls that cannot be carried out: each is a helpful text with the class of the mistake, and never an exception."""

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphwalk.config.agent import AgentConfig, foreign_agent
from graphwalk.errors import StoreError
from graphwalk.graphs.graph import Node, PropertyGraph
from graphwalk.graphs.schema import Schema
from graphwalk.models.chat import ToolCall
from graphwalk.models.trajectory import ToolResult
from graphwalk.stores.base import GraphStore
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.tools.graph_toolbox import GRAPH_TOOLS, GraphToolbox
from tests.tools.conftest import ODD_GRAPH, Call

NODES, VALUES = "get_node_by_property", "get_unique_property_values"


HUE = {"label": "Zorep", "property_name": "hue", "property_value": "x"}
COST = {"property_name": "cost", "entity_name": "DRAP", "entity_type": "relationship"}
PAGES = AgentConfig(result_tokens=50)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "in double quotes at character 2, so this is not JSON. Send one JSON object with the fields thought."),
        ("null", "they are not an object but null."),
        ("[" * 100_000, "they are nested too deeply, or a number in them has too many digits."),
        ("9" * 5000, "they are nested too deeply, or a number in them has too many digits."),
    ],
)
async def test_malformed_json(call: Call, text: str, words: str) -> None:
    result = await call("think", text=text)
    assert (result.error, words in result.content) == ("bad_json", True), result.content


@pytest.mark.parametrize("page", ["1", " 1 ", 1.0, "1.0"])
async def test_a_page_that_is_no_integer_but_means_one_is_read(call: Call, page: object) -> None:
    result = await call(VALUES, PAGES, **COST, page=page)
    assert (result.error, result.data) == (None, (await call(VALUES, PAGES, **COST, page=1)).data)


@pytest.mark.parametrize("page", ["", "  ", "null", None])
async def test_a_page_that_is_left_empty_is_the_first(call: Call, page: object) -> None:
    result = await call(VALUES, PAGES, **COST, page=page)
    assert (result.error, result.data) == (None, (await call(VALUES, PAGES, **COST)).data)


@pytest.mark.parametrize("page", ["one", "1.5", "[1]", [1], 10**30, -1])
async def test_a_page_that_means_none_is_refused(call: Call, page: object) -> None:
    result = await call(VALUES, PAGES, **COST, page=page)
    assert (result.error, "page" in result.content) == ("bad_arguments", True), result.content


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        (
            NODES,
            {"label": "Zorep", "property_name": "hue"},
            "needs the argument property_value, not given in this call.",
        ),
        (NODES, {**HUE, "limit": 3}, 'has no argument "limit". Its arguments are: label, property_name,'),
        (NODES, {**HUE, "label": None}, "label of get_node_by_property must be of type string, not null."),
        (NODES, {**HUE, "property_value": ["x"]}, "must be of type string or number or boolean, not a list."),
        (VALUES, {**COST, "page": True}, "page of get_unique_property_values must be of type integer, not a boolean."),
    ],
)
async def test_wrong_arguments(call: Call, tool: str, arguments: dict[str, Any], words: str) -> None:
    result = await call(tool, PAGES, **arguments)
    assert (result.error, words in result.content) == ("bad_arguments", True), result.content


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        (NODES, {**HUE, "label": ":zorep"}, "Did you mean Zorep? The node labels are: Zorep, Blick, Odd `Label`."),
        (NODES, {**HUE, "label": "Person"}, "The node labels are: Blick, Odd `Label`, Zorep."),
        (NODES, {**HUE, "property_name": "heu"}, "Did you mean hue? The properties of node Zorep are: hue, count,"),
        (VALUES, {**COST, "entity_name": "DARP"}, "Did you mean DRAP? The relationship types are: DRAP, FLIN."),
        (VALUES, {**COST, "entity_type": "edge"}, 'entity_type must be "node" or "relationship", not "edge".'),
    ],
)
async def test_unknown_names(call: Call, tool: str, arguments: dict[str, Any], words: str) -> None:
    result = await call(tool, **arguments)
    assert (result.error, words in result.content) == ("unknown_name", True), result.content


async def test_an_unknown_tool(call: Call) -> None:
    result = await call("get_nodes_by_property", label="Zorep")
    assert result.error == "unknown_tool"
    assert "Did you mean get_node_by_property" in result.content


async def test_long_values_are_not_sent_back(call: Call) -> None:
    long = "x" * 1_000_000
    for arguments in ({"property_value": long}, {"label": long}, {"property_name": long}, {long: 1}):
        assert len((await call(NODES, **{**HUE, **arguments})).content) < 400
    assert len((await call(long)).content) < 400


@pytest.mark.parametrize("value", ["\ud800", 2**63, 10**400, "\0", "1e999", 1e308])
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


@pytest.mark.parametrize(
    ("label", "name", "words"),
    [
        ("Labl123", "p01", "The node labels are: Label123, "),
        ("Labl123", "p01", ", and 291 more. get_schema shows what is known of one of them."),
        ("(no label)", "q01", ", and 21 more. get_schema shows all of them."),
    ],
)
async def test_of_many_names_the_closest_are_listed(label: str, name: str, words: str) -> None:
    toolbox = GraphToolbox(*await many_labels(), agent=foreign_agent())
    arguments = {"label": label, "property_name": name, "property_value": 1}
    result = await toolbox.call(ToolCall("1", NODES, json.dumps(arguments)))
    assert (result.error, words in result.content) == ("unknown_name", True), result.content
    assert len(result.content) < 600


@pytest.mark.parametrize("label", ['""', "", "(no label)"])
async def test_nodes_without_a_label_go_by_each_name_that_is_shown_for_them(label: str) -> None:
    toolbox = GraphToolbox(*await many_labels(), agent=foreign_agent())
    look_up = json.dumps({"label": label, "property_name": "p01", "property_value": 1})
    assert (await toolbox.call(ToolCall("1", NODES, look_up))).rows == 1
    entity = json.dumps({"entity_name": label, "entity_type": "node"})
    described = await toolbox.call(ToolCall("2", "get_schema", entity))
    assert described.error is None
    assert described.content.startswith("Node labels:\n(no label)\n  key")


TEXTS = st.sampled_from(
    ["Zorep", "DRAP", "hue", "key", "node", "`) DETACH DELETE n //", "{{ 7 * 7 }}", "\0"]
) | st.text(max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
FIELDS = st.sampled_from(["label", "property_name", "property_value", "entity_name", "entity_type", "thought", "page"])
TEXT_OF_CALL = st.text() | st.dictionaries(FIELDS, TEXTS | JSON).map(json.dumps) | JSON.map(json.dumps)


@pytest.fixture(scope="module")
def called() -> Iterator[Callable[[str, str], ToolResult]]:
    """A call in an event loop for all examples."""
    with asyncio.Runner() as runner:
        store = runner.run(EmbeddedDatabase().load(ODD_GRAPH))
        toolbox = GraphToolbox(store, runner.run(store.schema()), agent=PAGES)
        yield lambda tool, text: runner.run(toolbox.call(ToolCall("1", tool, text)))


@given(tool=st.sampled_from(GRAPH_TOOLS) | TEXTS, text=TEXT_OF_CALL)
def test_no_text_of_a_call_raises(called: Callable[[str, str], ToolResult], tool: str, text: str) -> None:
    result = called(tool, text)
    assert result.error in (None, "unknown_tool", "bad_json", "bad_arguments", "unknown_name")
    assert result.content
