"""The MCP server of one graph: tools and results, over stdin and stdout or over HTTP."""

import asyncio
import hmac
import json
import re
import secrets
import socket
from collections.abc import Callable, Sequence
from typing import Any, Literal

import h11
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
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from graphwalk.config.graph_source import GraphSource
from graphwalk.config.templates import render_page
from graphwalk.errors import ConfigError
from graphwalk.models.chat import ToolCall, ToolSpec
from graphwalk.own_graph.graph_agent import answer_call, ask_config, has_search, toolbox_over
from graphwalk.sanitise import one_line
from graphwalk.stores.open import OpenGraphs
from graphwalk.tools.schema_text import schema_text
from graphwalk.variables import TOKEN_VARIABLE, Variables
from graphwalk.version import __version__

Transport = Literal["stdio", "http"]
Context = ServerRequestContext[Any, Any]
_READ_ONLY = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)


async def serve(
    source: GraphSource,
    variables: Variables,
    *,
    say: Callable[[str], None],
    transport: Transport = "stdio",
    host: str = "127.0.0.1",
    port: int = 0,
    allowed_hosts: Sequence[str] = (),
    tools: Sequence[str] | None = None,
    overrides: Sequence[str] = (),
) -> None:
    """Serve the tools until stdin closes (stdio) or a signal arrives (http).

    `say` prints messages; `allowed_hosts`: other names of the server, as that of a proxy; `tools` are names or files;
    `overrides` are `key=value`, as for an experiment. Raise ConfigError or StoreError if the graph cannot be opened, a
    tool or override is wrong, or the port is taken.
    """
    fields: dict[str, Any] = {"names_in_tools": 200}
    if tools:
        fields["tools"] = tools
    agent = ask_config(fields, overrides).agent
    async with OpenGraphs(variables) as graphs:
        store = await graphs.open(source)
        schema = await store.schema(agent.schema_samples)
        toolbox = toolbox_over(store, schema, agent)

        async def list_tools(context: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
            return ListToolsResult(tools=[_offer(spec) for spec in toolbox.specs])

        async def call(context: Context, params: CallToolRequestParams) -> CallToolResult:
            """Call a tool. A mistake of the caller is an error with advice, as for models."""
            tool_call = ToolCall.of_model(str(context.request_id), params.name, json.dumps(params.arguments or {}))
            result = await answer_call(toolbox, tool_call, agent)
            text = TextContent(type="text", text=result.content)
            return CallToolResult(content=[text], is_error=result.error is not None)

        server: Server[Any] = Server(
            "graphwalk",
            version=__version__,
            title=f"GraphWalk: {source.name}",
            instructions=render_page(
                "mcp/instructions.j2",
                name=source.name,
                schema=schema_text(schema, agent),
                search=has_search(agent),
            ),
            on_list_tools=list_tools,
            on_call_tool=call,
        )
        if transport == "http":
            await serve_http(server, variables, host, port, allowed_hosts, say)
        else:
            async with stdio_server() as (read, write):
                await server.run(read, write, server.create_initialization_options())


def _offer(tool: ToolSpec) -> Offer:
    return Offer(
        name=tool.name,
        title=tool.name.replace("_", " ").capitalize(),  # get_schema: "Get schema"
        description=tool.description,
        input_schema=dict(tool.parameters),
        annotations=_READ_ONLY,
    )


PATH = "/mcp"
HEALTH_PATH = "/health"
"""Answers without a token, for health checks of containers and proxies; it tells nothing else."""
MOST_CONNECTIONS = 256
HEAD_SECONDS = 10
"""For the head of a request: an unfinished one takes a connection."""
PARTING_SECONDS = 2
"""At the end, calls that are running have this long."""
SHORTEST_TOKEN = 16
EVERY_ADDRESS = ("", "0.0.0.0", "::")
_HOST_NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?|\[[0-9A-Fa-f:.]+\]")
"""mcp.example.org, 192.0.2.7 or [2001:db8::7]."""
_REFUSED_NAMES = {421: "Host", 403: "Origin"}
"""Statuses of the SDK, and the header that it refuses."""


class HeadTimeout(H11Protocol):
    """Close connections that send no request, or a part of its head, for `HEAD_SECONDS`."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._watch_head()

    def handle_events(self) -> None:
        super().handle_events()
        self._watch_head()

    def _watch_head(self) -> None:
        waits = self.conn.their_state is h11.IDLE
        if waits and self._timer is None:
            self._timer = self.loop.call_later(HEAD_SECONDS, self.transport.close)
        elif not waits and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)


async def serve_http(
    server: Server[Any],
    variables: Variables,
    host: str,
    port: int,
    allowed_hosts: Sequence[str],
    say: Callable[[str], None],
) -> None:
    """Serve until a signal arrives. Raise ConfigError for a used port, an invalid address or name, or a short token."""
    for other in allowed_hosts:
        if not _HOST_NAME.fullmatch(other):
            hint = "--allow-host mcp.example.org, without http:// and path"
            raise ConfigError(f"--allow-host {other!r}: not the name of a host", hint=hint)
    token = variables.get(TOKEN_VARIABLE) or secrets.token_urlsafe(32)
    if len(token) < SHORTEST_TOKEN:
        raise ConfigError(f"{TOKEN_VARIABLE} needs {SHORTEST_TOKEN} characters", hint="unset it to generate a token")
    with _listener(host, port) as listener:
        address = f"[{host}]" if ":" in host else host
        address = f"{address}:{listener.getsockname()[1]}"
        app = server.streamable_http_app(
            streamable_http_path=PATH, transport_security=_names_of_server(address, allowed_hosts)
        )
        config = uvicorn.Config(
            with_token(with_hint(app), token),
            http=HeadTimeout,
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            limit_concurrency=MOST_CONNECTIONS,
            timeout_graceful_shutdown=PARTING_SECONDS,
        )
        say(f"listening at http://{address}{PATH}")
        token_text = f"${TOKEN_VARIABLE}" if variables.get(TOKEN_VARIABLE) else token
        say(f"clients must send the header  Authorization: Bearer {token_text}")
        await uvicorn.Server(config).serve(sockets=[listener])


def _listener(host: str, port: int) -> socket.socket:
    """Return a socket that listens. Raise ConfigError for a used port or an invalid address."""
    if host in EVERY_ADDRESS:  # requests must name the host
        raise ConfigError(f"--host {host!r}: not an address of this machine", hint="--host ADDRESS of this machine")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except (OSError, UnicodeError) as error:
        hint = "--host ADDRESS of this machine, and --port 0 for any free port"
        raise ConfigError(f"cannot listen at {one_line(host)}, port {port}: {one_line(error)}", hint=hint) from error


def _names_of_server(address: str, other_hosts: Sequence[str]) -> TransportSecuritySettings:
    """Return the names by which requests may call the server, and the origins of pages that may send them.

    `address` is that of the listener with its port: "127.0.0.1:8000".
    """
    port = address.rpartition(":")[2]
    names = [address, f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}"]
    origins = [f"http://{name}" for name in names]
    for host in other_hosts:
        # At any port: a proxy has its own, and a container publishes another one.
        for name in (host.lower(), f"{host.lower()}:*"):
            names.append(name)
            origins += [f"http://{name}", f"https://{name}"]
    return TransportSecuritySettings(allowed_hosts=names, allowed_origins=origins)


def with_token(app: ASGIApp, token: str) -> ASGIApp:
    """Return the application behind a check of the token, in constant time, so that it cannot be guessed by parts."""

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        answer = app
        if scope["type"] == "http" and scope["path"] == HEALTH_PATH:
            answer = PlainTextResponse("ok\n")
        elif scope["type"] == "http":
            scheme, _, credentials = Headers(scope=scope).get("authorization", "").partition(" ")
            is_right = hmac.compare_digest(credentials.strip().encode("utf-8", "replace"), token.encode())
            if scheme.lower() != "bearer" or not is_right:
                answer = PlainTextResponse("the token is missing or wrong\n", 401, {"WWW-Authenticate": "Bearer"})
        await answer(scope, receive, send)

    return guarded


def with_hint(app: ASGIApp) -> ASGIApp:
    """Return the application with the option to change in each refusal of a Host or an Origin."""

    async def hinting(scope: Scope, receive: Receive, send: Send) -> None:
        refusal: PlainTextResponse | None = None

        async def send_hint(message: Message) -> None:
            nonlocal refusal
            if message["type"] == "http.response.start" and message["status"] in _REFUSED_NAMES:
                name = _REFUSED_NAMES[message["status"]]
                value = Headers(scope=scope).get(name)
                text = f"{name} {value!r} is not allowed: graphwalk mcp --allow-host NAME\n"
                refusal = PlainTextResponse(text, message["status"])
                await refusal(scope, receive, send)
            elif refusal is None:
                await send(message)

        await app(scope, receive, send_hint)

    return hinting
