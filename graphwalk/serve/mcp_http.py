"""MCP over streamable HTTP, with limits on clients."""

import asyncio
import hmac
import ipaddress
import secrets
import socket
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

import h11
import uvicorn
from mcp.server import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from graphwalk.errors import ConfigError
from graphwalk.serve import loopback_names
from graphwalk.settings import TOKEN_VARIABLE, Settings

HEADER_SECONDS = 10.0
"""From the connection, or the first byte of a later request, to the end of the header."""
BODY_SECONDS = 30.0
"""From the end of the header to the end of the body."""
UNAUTHENTICATED_CONNECTIONS = 64
"""Connections that have not sent the token yet. One more closes the oldest of them: a client with the token sends it
at once, and always gets a place."""
STATE = "connection"
"""In the `state` of an ASGI scope: the connection of the request."""


class Connection(H11Protocol):
    """Uvicorn's HTTP connection, with time limits that uvicorn does not have."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.app_state = {**self.app_state, STATE: self}
        self.authenticated = False
        self._limited: Any = None
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._opened = self.loop.time()
        others = [
            other
            for other in self.connections
            if isinstance(other, Connection) and not (other.authenticated or other.transport.is_closing())
        ]
        if len(others) > UNAUTHENTICATED_CONNECTIONS:
            min(others, key=lambda other: other._opened).transport.abort()
        self._limit_time()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._limit_time()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def _limit_time(self) -> None:
        """Start the time limit for the client's next message, unless it is running."""
        state = self.conn.their_state
        if state is self._limited:
            return
        self._stop_timer()
        seconds = {h11.IDLE: HEADER_SECONDS, h11.SEND_BODY: BODY_SECONDS}.get(state)
        if seconds is not None:
            self._limited = state
            self._timer = self.loop.call_later(seconds, self.transport.abort)

    def _stop_timer(self) -> None:
        self._limited = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


PATH = "/mcp"
LARGEST_BODY = 1 << 20
"""Bytes of one request."""
MOST_SESSIONS = 64
IDLE_SECONDS = 600.0
"""A session without requests ends after this time."""
MOST_CONNECTIONS = 256
PARTING_SECONDS = 2
"""At the end, calls that are running have this long."""
SHORTEST_TOKEN = 16


async def serve_http(server: Server[Any], settings: Settings, host: str, port: int, say: Callable[[str], None]) -> None:
    """Serve until cancelled. Raise ConfigError for a used port, an invalid address or a short token."""
    token = _token(settings)
    with _listening(host, port) as listener:
        place = f"[{host}]" if ":" in host else host
        place += f":{listener.getsockname()[1]}"
        names = sorted({place, *loopback_names(listener.getsockname()[1])})
        app = server.streamable_http_app(
            streamable_http_path=PATH,
            max_request_body_size=LARGEST_BODY,
            max_sessions=MOST_SESSIONS,
            session_idle_timeout=IDLE_SECONDS,
            transport_security=TransportSecuritySettings(
                allowed_hosts=names, allowed_origins=[f"http://{name}" for name in names]
            ),
        )
        config = uvicorn.Config(
            _Guard(app, token),
            http=Connection,
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            limit_concurrency=MOST_CONNECTIONS,
            timeout_graceful_shutdown=PARTING_SECONDS,
        )
        say(f"listening at http://{place}{PATH}")
        given = f"${TOKEN_VARIABLE}" if settings.mcp_token else token
        say(f"clients must send the header  Authorization: Bearer {given}")
        await _until_cancelled(_Uvicorn(config), listener)


class _Guard:
    """Lets requests through that carry the token. Compared in constant time, so that it cannot be guessed by parts."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scheme, _, given = Headers(scope=scope).get("authorization", "").partition(" ")
            right = hmac.compare_digest(given.strip().encode("utf-8", "replace"), self._expected)
            if scheme.lower() != "bearer" or not right:
                refusal = PlainTextResponse("the token is missing or wrong\n", 401, {"WWW-Authenticate": "Bearer"})
                await refusal(scope, receive, send)
                return
            scope["state"][STATE].authenticated = True
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


def _token(settings: Settings) -> str:
    given = settings.mcp_token
    if given is None:
        return secrets.token_urlsafe(32)
    if len(given) < SHORTEST_TOKEN or not (given.isascii() and given.isprintable()):
        raise ConfigError(
            f"{TOKEN_VARIABLE} must have at least {SHORTEST_TOKEN} plain characters",
            hint="unset it to generate a token",
        )
    return given


def _listening(host: str, port: int) -> socket.socket:
    with suppress(ValueError):  # of a name
        if not host or ipaddress.ip_address(host).is_unspecified:
            raise ConfigError(f"--host {host!r}: not an address of this machine", hint="--host ADDRESS of this machine")
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (OSError, UnicodeError) as error:
        what = f"cannot listen at {host}, port {port}: {error}"
        raise ConfigError(what, hint="--port 0 chooses a free port") from error
