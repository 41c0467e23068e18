"""The same tools, schemas and words as a model gets from us anywhere, over both transports and both forms of the protocol."""

import json
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from mcp import Client

from graphwalk.agent.levers import NamesInTools
from graphwalk.config.agent import AgentConfig
from graphwalk.models.chat import ToolCall
from graphwalk.own_graph.graph_agent import DEFAULTS
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.tools.graph_toolbox import OWN_GRAPH_TOOLS, GraphToolbox
from graphwalk.tools.tool import load_tools
from graphwalk.tools.toolbox import Toolbox
from tests.own_graph.mcp.servers import MODES, HttpServer, over_stdio, text_of
from tests.tools.conftest import ODD_GRAPH

BY_KEY = {"label": "Zorep", "property_name": "key", "property_value": "z1"}


@pytest.fixture(params=[("stdio", MODES[0]), ("http", MODES[1])], ids="-".join)
def way(request: pytest.FixtureRequest, odd_file: Path, http_server: HttpServer) -> AbstractAsyncContextManager[Client]:
    how, mode = request.param
    return over_stdio("--graph", odd_file, mode=mode) if how == "stdio" else http_server.client(mode)


@pytest.fixture
async def toolbox() -> AsyncIterator[Toolbox]:
    database = EmbeddedDatabase()
    store = await database.load(ODD_GRAPH)
    agent = AgentConfig(**DEFAULTS, names_in_tools=200)
    tools = GraphToolbox(store, await store.schema(agent.schema_samples), load_tools(OWN_GRAPH_TOOLS), agent)
    yield NamesInTools(tools, agent)
    await database.close()


async def test_a_client_walks_the_graph(way: AbstractAsyncContextManager[Client], toolbox: Toolbox) -> None:
    async with way as client:
        tools = (await client.list_tools()).tools
        assert [t.name for t in tools] == [s.name for s in toolbox.specs]
        for tool, spec in zip(tools, toolbox.specs, strict=True):
            assert tool.input_schema == json.loads(json.dumps(dict(spec.parameters)))
            assert tool.description == spec.description
            hints = tool.annotations
            assert hints is not None
            assert (hints.read_only_hint, hints.destructive_hint) == (True, False)
            assert (hints.idempotent_hint, hints.open_world_hint) == (True, False)
            assert tool.title

        labels = next(tool.input_schema["properties"]["label"] for tool in tools if tool.name == "get_node_by_property")
        assert labels["enum"] == ["Blick", "Odd `Label`", "Zorep"]

        neighbors = await client.call_tool("get_all_nearest_neighbors", BY_KEY)
        expected = await toolbox.call(ToolCall("1", "get_all_nearest_neighbors", json.dumps(BY_KEY)))
        assert text_of(neighbors) == expected.content
        assert not neighbors.is_error
        [row] = json.loads(text_of(await client.call_tool("search_nodes", {"text": "ünï tock", "label": None})))
        assert (row["key"], row["match"], row["relationships"]) == ("12", "typing errors", 1)
        assert "with search_nodes" in client.instructions

        assert text_of(await client.call_tool("think", {"thought": "ünï"})) == "ünï"


async def test_mistakes_are_errors_with_advice(http_server: HttpServer) -> None:
    async with http_server.client(MODES[1]) as client:
        for name, arguments, advice in (
            ("get_node_by_property", {**BY_KEY, "label": "Zorp"}, "Did you mean Zorep"),
            ("get_node_by_property", {**BY_KEY, "property_value": [1]}, "must be of type string or number or boolean"),
            ("get_node_by_property", {}, "needs the arguments"),
            ("write_cypher", {"query": "CREATE (n)"}, "There is no tool"),
            ("think", {"thought": float("nan")}, ""),
        ):
            answer = await client.call_tool(name, arguments)
            assert answer.is_error, name
            assert advice in text_of(answer)
            assert "Traceback" not in text_of(answer)
        assert len(json.loads(text_of(await client.call_tool("get_node_by_property", BY_KEY)))) == 1
