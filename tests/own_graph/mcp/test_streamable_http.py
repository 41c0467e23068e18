"""Over HTTP: who may talk to it, how much, and how it ends."""

import asyncio
import os
import signal
import socket
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
import uvicorn
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from graphwalk.own_graph import mcp
from graphwalk.own_graph.mcp import MOST_CONNECTIONS
from tests.forked_commands import wait
from tests.own_graph.mcp.servers import HttpServer, over_http


@pytest.mark.parametrize(
    "authorization",
    [None, "Bearer", "Bearer x", "Basic abc", "Bearer \xe9\xe9"],
)
def test_without_the_token_nothing_is_answered(http_server: HttpServer, authorization: str | None) -> None:
    headers = {k: v for k, v in http_server.headers.items() if k != "Authorization"}
    if authorization is not None:
        headers["Authorization"] = authorization
    raw = {name: value.encode("latin-1") for name, value in headers.items()}
    answer = httpx2.post(http_server.url, headers=raw, json={}, timeout=60)
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert http_server.token not in answer.text


def test_health_needs_no_token_and_shows_nothing(http_server: HttpServer) -> None:
    place = urlsplit(http_server.url).netloc
    answer = httpx2.get(f"http://{place}/health", timeout=60)
    assert (answer.status_code, answer.text) == (200, "ok\n")
    assert httpx2.get(f"http://{place}/health/../mcp", timeout=60).status_code == 401


@pytest.mark.parametrize(
    ("header", "value", "code"),
    [
        ("Origin", "http://evil.example", 403),
        ("Origin", "http://127.0.0.1.evil.example", 403),
        ("Host", "127.0.0.1.evil.example:80", 421),
    ],
)
def test_foreign_pages_are_refused_even_with_the_token(
    http_server: HttpServer, header: str, value: str, code: int
) -> None:
    assert http_server.post(headers={**http_server.headers, header: value}).status_code == code


def test_refusals_of_a_name_say_how_to_allow_it(http_server: HttpServer) -> None:
    for header, value in (("Host", "mcp.example.org"), ("Origin", "https://mcp.example.org")):
        answer = http_server.post(headers={**http_server.headers, header: value})
        assert answer.text == f"{header} {value!r} is not allowed: graphwalk mcp --allow-host NAME\n"


def test_other_names_are_allowed_with_the_token_only(odd_file: Path) -> None:
    with over_http("--graph", odd_file, "--allow-host", "MCP.example.org", "--allow-host", "192.0.2.7") as server:
        for host, code in (
            ("mcp.example.org", 200),
            ("mcp.example.org:8443", 200),
            ("192.0.2.7:80", 200),
            (urlsplit(server.url).netloc, 200),
            ("other.example.org", 421),
            ("mcp.example.org.evil.example", 421),
            ("evil.mcp.example.org", 421),
        ):
            assert server.post(headers={**server.headers, "Host": host}).status_code == code, host
        named = {**server.headers, "Host": "mcp.example.org"}
        for origin, code in (
            ("https://mcp.example.org", 200),
            ("https://mcp.example.org:8443", 200),
            ("https://evil.example", 403),
        ):
            assert server.post(headers={**named, "Origin": origin}).status_code == code, origin
        assert server.post(headers={"Host": "mcp.example.org"}).status_code == 401


def test_connections_are_limited(http_server: HttpServer) -> None:
    with ExitStack() as stack:
        place = urlsplit(http_server.url)
        health = f"http://{place.netloc}/health"
        for _ in range(MOST_CONNECTIONS):
            connection = stack.enter_context(socket.create_connection((place.hostname, place.port), timeout=60))
            connection.sendall(b"POST /mcp HTTP/1.1\r\nHost: x\r\n")
        assert httpx2.get(health, timeout=60).status_code == 503
        stack.close()
        while httpx2.get(health, timeout=60).status_code == 503:
            time.sleep(0.05)
        assert http_server.post().status_code == 200


@pytest.mark.parametrize("head", [b"", b"POST /mcp HTTP/1.1\r\nHost: x\r\n", b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /"])
async def test_half_a_head_of_a_request_does_not_keep_its_connection(
    head: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp, "HEAD_SECONDS", 0.5)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.sleep(1)
        await PlainTextResponse("late")(scope, receive, send)

    server = uvicorn.Server(uvicorn.Config(app, http=mcp.HeadTimeout, lifespan="off", log_config=None))
    listener = socket.create_server(("127.0.0.1", 0))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    place = listener.getsockname()

    async def last_bytes(text: bytes) -> bytes:
        reader, writer = await asyncio.open_connection(*place)
        writer.write(text)
        received = await reader.read()
        writer.close()
        return received

    async with asyncio.timeout(60):
        await asyncio.gather(*(last_bytes(head) for _ in range(40)))
        whole = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        assert (await last_bytes(whole)).endswith(b"late")  # the time is for the head alone
        assert not server.server_state.connections
        server.should_exit = True
        await serving


def test_a_token_of_ones_own_is_not_shown(odd_file: Path) -> None:
    token = "a-token-of-my-own-1234"
    with over_http("--graph", odd_file, GRAPHWALK_MCP_TOKEN=token) as server:
        assert server.token == "$GRAPHWALK_MCP_TOKEN"
        with_token = replace(server, token=token)
        assert (with_token.post().status_code, server.post().status_code) == (200, 401)
        assert server.process.pid is not None
        os.kill(server.process.pid, signal.SIGINT)
        assert wait(server.process) == 130
        assert server.output.read_text() == ""
        errors = server.errors.read_text()
        assert token not in errors
        assert "Traceback" not in errors
