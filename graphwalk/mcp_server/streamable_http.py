"""Over streamable HTTP: many clients that know the token, on this machine unless another address is asked for."""

import asyncio
import hmac
import ipaddress
import secrets
import socket
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import uvicorn
from mcp.server import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from graphwalk.environment import TOKEN_VARIABLE, Environment
from graphwalk.errors import ConfigError
from graphwalk.mcp_server.connection import STATE, Connection

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
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


async def serve_http(
    server: Server[Any], environment: Environment, host: str, port: int, say: Callable[[str], None]
) -> None:
    """Until the work is cancelled. ConfigError for a port that is taken, a wrong address, and a token that is short."""
    token = _token(environment)
    with _listening(host, port) as listener:
        place = _in_url(host) + f":{listener.getsockname()[1]}"
        app = _Guard(_application(server, place), token)
        say(f"answers at http://{place}{PATH}")
        given = f"${TOKEN_VARIABLE}" if environment.mcp_token else token
        say(f"clients send the header  Authorization: Bearer {given}")
        await _until_cancelled(_Uvicorn(_settings(app)), listener)


def _application(server: Server[Any], place: str) -> ASGIApp:
    """A page in somebody's browser must not reach us by a name of its own: only our names are answered."""
    port = place.rpartition(":")[2]
    names = sorted({place, *(f"{name}:{port}" for name in _LOOPBACK)})
    return server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=LARGEST_BODY,
        max_sessions=MOST_SESSIONS,
        session_idle_timeout=IDLE_SECONDS,
        transport_security=TransportSecuritySettings(
            allowed_hosts=names, allowed_origins=[f"http://{name}" for name in names]
        ),
    )


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


def _settings(app: ASGIApp) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=PARTING_SECONDS,
    )


def _token(environment: Environment) -> str:
    given = environment.mcp_token
    if given is None:
        return secrets.token_urlsafe(32)
    if len(given) < SHORTEST_TOKEN or not (given.isascii() and given.isprintable()):
        raise ConfigError(
            f"{TOKEN_VARIABLE} must have at least {SHORTEST_TOKEN} plain characters",
            hint="unset it, and a token is made for you",
        )
    return given


def _listening(host: str, port: int) -> socket.socket:
    try:
        if not host or (_is_address(host) and ipaddress.ip_address(host).is_unspecified):
            raise ConfigError(f"{host!r} is no address that a client could name", hint="--host ADDRESS of this machine")
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.socket(family)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
            listener.listen(128)
        except BaseException:
            listener.close()
            raise
    except (OSError, UnicodeError) as error:
        raise ConfigError(
            f"cannot listen at {host}, port {port}: {error}", hint="--port 0 takes a port that is free"
        ) from error
    return listener


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
