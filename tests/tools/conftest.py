"""A small graph with every oddity that tools have to cope with."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from graphwalk.config.agent import AgentConfig
from graphwalk.graphs.graph import Node, PropertyGraph, Relationship
from graphwalk.graphs.schema import Schema
from graphwalk.models.chat import ToolCall
from graphwalk.models.trajectory import ToolResult
from graphwalk.stores.base import GraphStore
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.tools.graph_toolbox import GraphToolbox

Call = Callable[..., Awaitable[ToolResult]]

ODD_GRAPH = PropertyGraph.from_rows(
    [
        Node("z1", ("Zorep",), {"hue": "vark", "mass": 1.5, "count": 3, "live": True}),
        Node("z2", ("Zorep",), {"hue": "vark", "mass": 2.0, "count": 4, "live": False}),
        Node("z3", ("Zorep",), {"hue": "3", "mass": 2.0, "type_": "own"}),
        Node("12", ("Blick",), {"name": "Ünï `tick` \"quote\" 'q', comma\nline", "id_": 7}),
        Node("b2", ("Blick",), {"name": "true"}),
        Node("lone", ("Odd `Label`",), {"a b": "x"}),
    ],
    [
        Relationship("DRAP", "z1", "z2", {"cost": 2.5, "tag": "p"}),
        Relationship("DRAP", "z1", "z2", {"cost": 0.5}),
        Relationship("DRAP", "12", "z1", {}),
        Relationship("DRAP", "z1", "z1", {"cost": 1.0}),
        Relationship("FLIN", "z2", "b2", {"tag": "q"}),
    ],
)


@pytest.fixture
async def store() -> AsyncIterator[GraphStore]:
    async with EmbeddedDatabase() as database:
        yield await database.load(ODD_GRAPH)


@pytest.fixture
async def schema(store: GraphStore) -> Schema:
    return await store.schema()


@pytest.fixture
def call(store: GraphStore, schema: Schema) -> Call:
    """Run one call; `agent` holds the switches, `text` replaces the arguments."""

    async def run(tool: str, agent: AgentConfig | None = None, text: str | None = None, **arguments: Any) -> ToolResult:
        toolbox = GraphToolbox(store, schema, agent=agent)
        return await toolbox.call(ToolCall("1", tool, json.dumps(arguments) if text is None else text))

    return run
