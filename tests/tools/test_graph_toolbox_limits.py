"""The limits of a user's graph on the embedded engine; without them results are complete."""

import json

from graphwalk.config.agent import FOREIGN, AgentConfig, foreign_agent
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.tools.schema_text import schema_text
from graphwalk.types.chat import ToolCall
from graphwalk.types.encodings import decode_rows
from graphwalk.types.episode import ToolResult
from graphwalk.types.graph import Node, PropertyGraph, Relationship

HUB = PropertyGraph.from_rows(
    [Node("hub", ("Hub", "Town"), {}), *(Node(f"n{n}", ("Leaf",), {"n": n, "text": "x" * 500}) for n in range(1200))],
    [Relationship("AT", f"n{n}", "hub", {}) for n in range(1200)],
)


async def neighbors(agent: AgentConfig, **more: int) -> ToolResult:
    store = await EmbeddedDatabase().load(HUB)
    toolbox = GraphToolbox(store, await store.schema(), agent=agent)
    arguments = {"label": "Hub", "property_name": "key", "property_value": "hub", **more}
    return await toolbox.call(ToolCall("1", "get_all_nearest_neighbors", json.dumps(arguments)))


async def test_long_values_are_cut() -> None:
    found = await neighbors(foreign_agent())
    assert "… (500 characters)" in found.content
    whole = await neighbors(AgentConfig())
    assert len(decode_rows(whole.content)) == 1200
    assert "…" not in whole.content


async def test_slow_call_becomes_tool_text() -> None:
    result = await neighbors(foreign_agent(AgentConfig(call_seconds=0.001)))
    assert result.error == "timeout"
    assert "given up" in result.content


def test_settings_of_the_user_stay() -> None:
    agent = foreign_agent(AgentConfig(result_tokens=None, schema_tokens=77))
    assert (agent.result_tokens, agent.schema_tokens) == (None, 77)
    assert agent.call_seconds == FOREIGN["call_seconds"]
    assert foreign_agent(agent) == agent


async def test_the_schema_keeps_to_its_tokens() -> None:
    store = await EmbeddedDatabase().load(HUB)
    schema = await store.schema(3)
    whole = schema_text(schema, AgentConfig())
    assert "(:Leaf)-[:AT]->(:Hub)" in whole
    assert "text" not in schema_text(schema, AgentConfig(schema_tokens=40))
