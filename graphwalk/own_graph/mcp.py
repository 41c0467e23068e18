"""The MCP server of one graph: tools and results, over stdin and stdout or over HTTP."""

import asyncio
import hmac
import io
import ipaddress
import json
import os
import secrets
import select
import socket
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any, Literal

import anyio
import uvicorn
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    ToolAnnotations,
)
from mcp_types import Tool as Offer
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from graphwalk.agent.loop import call_tool
from graphwalk.config.agent import FOREIGN, AgentConfig
from graphwalk.config.graph_source import GraphSource
from graphwalk.config.templates import render_page
from graphwalk.errors import ConfigError, GraphwalkError
from graphwalk.graphs.schema import Schema
from graphwalk.models.chat import ToolCall
from graphwalk.own_graph.graph_agent import ask_config, toolbox_over
from graphwalk.runs.experiment import parse_override
from graphwalk.stores.sources import open_source
from graphwalk.suites.mazes.toolbox import MAZE_TOOLS
from graphwalk.tools.graph_toolbox import OWN_GRAPH_TOOLS
from graphwalk.tools.schema_text import schema_text
from graphwalk.tools.tool import SWITCHES, Tool, load_tools
from graphwalk.tools.toolbox import Toolbox
from graphwalk.variables import TOKEN_VARIABLE, Variables
from graphwalk.version import __version__

_READ_ONLY = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
CALLS_AT_ONCE = 16
"""More calls wait, so that clients together do not flood the database."""

Context = ServerRequestContext[Any, Any]


def graph_server(
    name: str, toolbox: Toolbox, tools: Sequence[Tool], schema: Schema, agent: AgentConfig, variables: Variables
) -> Server[Any]:
    """Return a server of these tools over the graph `name`; `schema` is for its instructions."""
    turns = asyncio.Semaphore(CALLS_AT_ONCE)

    async def list_tools(context: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(
            tools=[
                Offer(
                    name=spec.name,
                    title=spec.name.replace("_", " ").capitalize(),
                    description=spec.description,
                    input_schema=dict(spec.parameters),
                    annotations=_READ_ONLY,
                )
                for spec in toolbox.specs
            ]
        )

    async def answer_call(context: Context, params: CallToolRequestParams) -> CallToolResult:
        """Call a tool. A mistake of the caller is an error with advice, as for models."""
        call = ToolCall.of_model(str(context.request_id), params.name, json.dumps(params.arguments or {}))
        async with turns:
            try:
                result = await call_tool(toolbox, call, agent)
                text, is_error = result.content, result.error is not None
            except GraphwalkError as error:
                cause = str(error).splitlines()[0]  # without the query: no client wrote it
                text = variables.secrets.redact(f"{cause}\nWhat may help: {error.hint}" if error.hint else cause)
                is_error = True
        return CallToolResult(content=[TextContent(type="text", text=text)], is_error=is_error)

    return Server(
        "graphwalk",
        version=__version__,
        title=f"GraphWalk: {name}",
        instructions=render_page(
            "mcp/instructions.j2",
            name=name,
            schema=schema_text(schema, agent),
            search=any(tool.operation == "search" for tool in tools),
        ),
        on_list_tools=list_tools,
        on_call_tool=answer_call,
    )


class _Stdin(io.RawIOBase):
    """Standard input that `stop` ends on POSIX: a thread that waits for input cannot be cancelled otherwise."""

    def __init__(self) -> None:
        self._stop_reader, self._stop_writer = os.pipe()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if os.name == "posix":  # elsewhere only sockets can be waited for
            ready, _, _ = select.select([0, self._stop_reader], [], [])
            if self._stop_reader in ready:
                return 0
        data = os.read(0, len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def stop(self) -> None:
        os.write(self._stop_writer, b"x")


Transport = Literal["stdio", "http"]
SETTINGS = tuple(
    f"agent.{name}" for name in (*FOREIGN, "names_in_tools", *SWITCHES, "encoding", "prompts", "tool_words")
)
"""Fields of an experiment that a client can override."""


async def serve(
    source: GraphSource,
    variables: Variables,
    *,
    say: Callable[[str], None],
    transport: Transport = "stdio",
    host: str = "127.0.0.1",
    port: int = 0,
    tools: Sequence[str] | None = None,
    overrides: Sequence[str] = (),
) -> None:
    """Serve the tools until stdin closes (stdio) or the task is cancelled.

    `say` prints messages; `tools` are names or files; `overrides` are `key=value`, as for an experiment. Raise
    ConfigError or StoreError if the graph cannot be opened, a tool or override is wrong, or the port is taken.
    """
    for override in overrides:
        key, _ = parse_override(override)
        if key not in SETTINGS:
            what = f"-o {override}: the server has no setting {key}"
            raise ConfigError(what, hint=f"settings: {', '.join(SETTINGS)}")
    agent = ask_config({"names_in_tools": 200, "tools": tools or OWN_GRAPH_TOOLS}, overrides).agent
    loaded = load_tools(agent.tools or ())
    if own := [tool.name for tool in loaded if tool.name in MAZE_TOOLS]:  # they keep the visited cells of an episode
        raise ConfigError(
            f"tool {own[0]} is available in its own suite only", hint="list all tools with  graphwalk list tools"
        )
    async with open_source(source, variables) as opened:
        toolbox = await toolbox_over(opened.store, agent)
        schema = await opened.store.schema(agent.schema_samples)
        server = graph_server(opened.name, toolbox, loaded, schema, agent, variables)
        if transport == "stdio":
            stdin = _Stdin()
            lines = io.TextIOWrapper(io.BufferedReader(stdin), encoding="utf-8", errors="replace")
            async with stdio_server(anyio.wrap_file(lines)) as (read, write):
                try:
                    await server.run(read, write, server.create_initialization_options())
                finally:
                    stdin.stop()
        else:
            await serve_http(server, variables, host, port, say)


PATH = "/mcp"
HEALTH_PATH = "/health"
"""Answers without a token, for health checks of containers and proxies; it tells nothing else."""
MOST_CONNECTIONS = 256
PARTING_SECONDS = 2
"""At the end, calls that are running have this long."""
SHORTEST_TOKEN = 16


async def serve_http(
    server: Server[Any], variables: Variables, host: str, port: int, say: Callable[[str], None]
) -> None:
    """Serve until cancelled. Raise ConfigError for a used port, an invalid address or a short token."""
    token = _token(variables)
    with _listening(host, port) as listener:
        port, name = listener.getsockname()[1], f"[{host}]" if ":" in host else host
        names = [f"{name}:{port}" for name in (name, "127.0.0.1", "localhost", "[::1]")]
        app = server.streamable_http_app(
            streamable_http_path=PATH,
            transport_security=TransportSecuritySettings(
                allowed_hosts=names, allowed_origins=[f"http://{name}" for name in names]
            ),
        )
        config = uvicorn.Config(
            _Guard(app, token),
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            limit_concurrency=MOST_CONNECTIONS,
            timeout_graceful_shutdown=PARTING_SECONDS,
        )
        say(f"listening at http://{names[0]}{PATH}")
        token_text = f"${TOKEN_VARIABLE}" if variables.get(TOKEN_VARIABLE) else token
        say(f"clients must send the header  Authorization: Bearer {token_text}")
        await _until_cancelled(_Uvicorn(config), listener)


class _Guard:
    """Lets requests through that carry the token. Compared in constant time, so that it cannot be guessed by parts."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == HEALTH_PATH:
            await PlainTextResponse("ok\n")(scope, receive, send)
            return
        if scope["type"] == "http":
            scheme, _, credentials = Headers(scope=scope).get("authorization", "").partition(" ")
            right = hmac.compare_digest(credentials.strip().encode("utf-8", "replace"), self._expected)
            if scheme.lower() != "bearer" or not right:
                refusal = PlainTextResponse("the token is missing or wrong\n", 401, {"WWW-Authenticate": "Bearer"})
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)


class _Uvicorn(uvicorn.Server):
    """Signals are the command line's."""

    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]
        return nullcontext()


async def _until_cancelled(serving: _Uvicorn, listener: socket.socket) -> None:
    task = asyncio.create_task(serving.serve(sockets=[listener]))
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        serving.should_exit = True
        await task
        raise


def _token(variables: Variables) -> str:
    token = variables.get(TOKEN_VARIABLE)
    if token is None:
        return secrets.token_urlsafe(32)
    if len(token) < SHORTEST_TOKEN or not (token.isascii() and token.isprintable()):
        raise ConfigError(
            f"{TOKEN_VARIABLE} must have at least {SHORTEST_TOKEN} plain characters",
            hint="unset it to generate a token",
        )
    return token


def _listening(host: str, port: int) -> socket.socket:
    with suppress(ValueError):  # of a name
        if not host or ipaddress.ip_address(host).is_unspecified:
            raise ConfigError(f"--host {host!r}: not an address of this machine", hint="--host ADDRESS of this machine")
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (OSError, UnicodeError) as error:
        what = f"cannot listen at {host}, port {port}: {error}"
        raise ConfigError(what, hint="--port 0 chooses a free port") from error
