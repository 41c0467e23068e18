"""One graph as a server of the Model Context Protocol, however it is reached."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mcp import MCPError
from mcp.server import Server, ServerRequestContext
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListResourcesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    TextResourceContents,
)

from graphwalk.config.agent import AgentConfig
from graphwalk.environment import Environment
from graphwalk.errors import GraphwalkError
from graphwalk.jinja import TEXT_FILTERS, make_environment
from graphwalk.mcp_server.content import arguments_text, called, failed, offer
from graphwalk.mcp_server.progress import reported
from graphwalk.resources import data_path
from graphwalk.stores.store import GraphStore
from graphwalk.toolbox.graph_toolbox import GraphToolbox
from graphwalk.toolbox.schema_text import schema_text
from graphwalk.toolbox.tool import Tool
from graphwalk.types.chat import ToolCall
from graphwalk.types.schema import Schema
from graphwalk.version import __version__

SCHEMA_URI = "graphwalk://schema"
CALLS_AT_ONCE = 16
"""More calls wait for their turn: clients together do not flood the database."""

Context = ServerRequestContext[Any, Any]


@dataclass(frozen=True)
class _Handlers:
    """What the server answers; it keeps nothing between calls."""

    toolbox: GraphToolbox
    tools: dict[str, Tool]
    offers: ListToolsResult
    schema: str
    environment: Environment
    turns: asyncio.Semaphore

    async def list_tools(self, context: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        return self.offers

    async def call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        call = ToolCall(str(context.request_id), params.name, arguments_text(params.arguments))
        async with self.turns, reported(context.session):
            try:
                result = await self.toolbox.call(call)
            except GraphwalkError as error:
                return failed(self._in_words(error))
        return called(self.tools.get(params.name), result)

    def _in_words(self, error: GraphwalkError) -> str:
        """The cause without the query that was sent: no client wrote it."""
        cause = str(error).splitlines()[0]
        return self.environment.redact(f"{cause}\nWhat may help: {error.hint}" if error.hint else cause)

    async def list_resources(self, context: Context, params: PaginatedRequestParams | None) -> ListResourcesResult:
        about = "Labels, relationship types and their properties."
        resource = Resource(
            name="schema", title="Schema of the graph", uri=SCHEMA_URI, mime_type="text/plain", description=about
        )
        return ListResourcesResult(resources=[resource])

    async def read_resource(self, context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        if str(params.uri) != SCHEMA_URI:
            raise MCPError(INVALID_PARAMS, f"there is no such resource; there is {SCHEMA_URI}")
        text = TextResourceContents(uri=SCHEMA_URI, mime_type="text/plain", text=self.schema)
        return ReadResourceResult(contents=[text])


def graph_server(
    name: str, store: GraphStore, schema: Schema, tools: Sequence[Tool], agent: AgentConfig, environment: Environment
) -> Server[Any]:
    """A server of these tools over the graph `name`; `agent` holds the switches and limits of results."""
    toolbox = GraphToolbox(store, schema, tools, agent)
    by_name = {tool.name: tool for tool in tools}
    text = schema_text(schema, agent)
    handlers = _Handlers(
        toolbox,
        by_name,
        ListToolsResult(tools=[offer(by_name[spec.name], spec) for spec in toolbox.specs]),
        text,
        environment,
        asyncio.Semaphore(CALLS_AT_ONCE),
    )
    return Server(
        "graphwalk",
        version=__version__,
        title=f"GraphWalk: {name}",
        instructions=_instructions(name, text),
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_read_resource=handlers.read_resource,
    )


def _instructions(name: str, schema: str) -> str:
    text = (data_path("templates") / "mcp" / "instructions.j2").read_text(encoding="utf-8")
    return make_environment(TEXT_FILTERS, trim=True).from_string(text).render(name=name, schema=schema)
