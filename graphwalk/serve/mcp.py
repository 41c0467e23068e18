"""The MCP server: its tools, their results and progress."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from mcp import MCPError
from mcp.server import Server, ServerRequestContext
from mcp.server.session import ServerSession
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
    TextContent,
    TextResourceContents,
    ToolAnnotations,
)
from mcp_types import Tool as Offer

from graphwalk.config.agent import AgentConfig
from graphwalk.encodings import decode_notes, next_page, read_rows
from graphwalk.errors import GraphwalkError
from graphwalk.jinja import TEXT_FILTERS, make_environment
from graphwalk.resources import data_path
from graphwalk.settings import Settings
from graphwalk.stores.base import GraphStore
from graphwalk.toolbox.graph_toolbox import GraphToolbox
from graphwalk.toolbox.schema_text import schema_text
from graphwalk.toolbox.tool import Tool
from graphwalk.types.chat import ToolCall, ToolSpec
from graphwalk.types.episode import ToolResult
from graphwalk.types.schema import Schema
from graphwalk.version import __version__


def offer(tool: Tool, spec: ToolSpec) -> Offer:
    """A tool as a client lists it; `spec` is what models are told anyway."""
    title = tool.name.replace("_", " ").capitalize()
    hints = ToolAnnotations(
        title=title, read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    )
    return Offer(
        name=spec.name,
        title=title,
        description=spec.description,
        input_schema=dict(spec.parameters),
        output_schema=_output_schema(tool, spec),
        annotations=hints,
    )


def called(tool: Tool | None, result: ToolResult) -> CallToolResult:
    """The result of a call. A mistake in it is an error with advice, as models get it anywhere."""
    text = TextContent(type="text", text=result.content)
    if tool is None or result.error is not None:
        return CallToolResult(content=[text], is_error=True)
    return CallToolResult(content=[text], structured_content=_structured(tool, result))


def failed(message: str) -> CallToolResult:
    """The database failed, and not the caller."""
    return CallToolResult(content=[TextContent(type="text", text=message)], is_error=True)


def arguments_text(arguments: Mapping[str, Any] | None) -> str:
    """The arguments as a model would have sent them, for the toolbox to check."""
    return json.dumps(arguments or {})


def _structured(tool: Tool, result: ToolResult) -> dict[str, Any]:
    if tool.operation is not None:
        return {"text": result.content}
    text = result.content
    return {
        "rows": read_rows(text),
        "notes": decode_notes(text),
        "total": result.rows,
        "next_page": next_page(text),
    }


def _output_schema(tool: Tool, spec: ToolSpec) -> dict[str, Any]:
    """A JSON schema of `_structured`; the columns of a tool are those of the example that ends its description."""
    if tool.operation is not None:
        return _object({"text": {"type": "string", "description": "What the tool says."}})
    row: dict[str, Any] = {"type": "object"}
    if tool.cypher is not None and (example := read_rows(spec.description.rpartition("\n")[2])):
        row = _object({name: {"type": "object"} if isinstance(v, dict) else {} for name, v in example[0].items()})
    return _object(
        {
            "rows": {"type": "array", "items": row, "description": "The rows of this page."},
            "notes": {"type": "array", "items": {"type": "string"}, "description": "Remarks on the result."},
            "total": {"type": ["integer", "null"], "description": "Rows in all, on all pages; null: not known."},
            "next_page": {"type": ["integer", "null"], "description": "The next page; null on the last one."},
        }
    )


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


PAUSE_SECONDS = 1.0


@asynccontextmanager
async def reported(session: ServerSession) -> AsyncIterator[None]:
    """Tells the client, once a second, for how many seconds its call has been running; nothing if it did not ask."""

    async def report() -> None:
        clock = asyncio.get_running_loop().time
        begun = clock()
        while True:
            seconds = round(clock() - begun, 1)
            await session.report_progress(seconds, message=f"the call has been running for {seconds:g} s")
            await asyncio.sleep(PAUSE_SECONDS)

    task = asyncio.create_task(report())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


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
    settings: Settings
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
        return self.settings.secrets.redact(f"{cause}\nWhat may help: {error.hint}" if error.hint else cause)

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
    name: str, store: GraphStore, schema: Schema, tools: Sequence[Tool], agent: AgentConfig, settings: Settings
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
        settings,
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
