"""Over HTTP: who may talk to it, how much, and how it ends."""

import asyncio
import signal
import socket
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from graphwalk.config.graph_source import GraphSource
from graphwalk.serve import mcp
from graphwalk.serve.mcp import LARGEST_BODY, MOST_CONNECTIONS, MOST_SESSIONS, serve
from graphwalk.settings import Settings
from tests.serve.mcp.servers import HttpServer, over_http

HEADER = "POST /mcp HTTP/1.1\r\nHost: x\r\n"


@pytest.mark.parametrize(
    "given",
    [None, "", "Bearer", "Bearer x", "Basic abc", "bearer", "bearer x", "Bearer \xe9\xe9", "Bearer " + "x" * 5000],
)
def test_without_the_token_nothing_is_answered(http_server: HttpServer, given: str | None) -> None:
    headers = {k: v for k, v in http_server.headers.items() if k != "Authorization"}
    if given is not None:
        headers["Authorization"] = given
    raw = {name: value.encode("latin-1") for name, value in headers.items()}
    answer = httpx2.post(http_server.url, headers=raw, json={}, timeout=60)
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert http_server.token not in answer.text


@pytest.mark.parametrize(
    ("header", "value", "code"),
    [
        ("Origin", "http://evil.example", 403),
        ("Origin", "null", 403),
        ("Origin", "http://127.0.0.1:1", 403),
        ("Origin", "http://127.0.0.1.evil.example", 403),
        ("Host", "evil.example", 421),
        ("Host", "127.0.0.1.evil.example:80", 421),
        ("Host", "127.0.0.1", 421),
        ("Content-Type", "text/plain", 400),
    ],
)
def test_foreign_pages_are_refused_even_with_the_token(
    http_server: HttpServer, header: str, value: str, code: int
) -> None:
    assert http_server.post(headers={**http_server.headers, header: value}).status_code == code


def test_its_own_origin_is_let_in(http_server: HttpServer) -> None:
    place = urlsplit(http_server.url).netloc
    assert http_server.post(headers={**http_server.headers, "Origin": f"http://{place}"}).status_code == 200


def test_bodies_that_are_no_requests(http_server: HttpServer) -> None:
    json_too = {**http_server.headers, "Content-Type": "application/json"}
    assert http_server.post(headers=json_too, content=b"x" * (LARGEST_BODY + 1)).status_code == 413
    for body in (b"", b"{", b"\xff\xfe", b"[]", b"null", b'{"jsonrpc": "2.0", "id": 1}', b"[" * 100_000):
        answer = http_server.post(headers=json_too, content=body)
        assert 400 <= answer.status_code < 500, body[:20]
        assert "Traceback" not in answer.text
    assert http_server.post().status_code == 200


def test_sessions_are_bounded(odd_file: Path) -> None:
    with over_http("--graph", odd_file) as server, httpx2.Client(headers=server.headers) as http:
        opening = {"jsonrpc": "2.0", "id": 1, "method": "initialize"}
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        codes = [
            http.post(server.url, json={**opening, "params": params}).status_code for _ in range(MOST_SESSIONS + 3)
        ]
    assert codes == [200] * MOST_SESSIONS + [503] * 3


@pytest.mark.parametrize("scheme", ["bearer", "BEARER", "Bearer "])
def test_the_scheme_may_be_written_in_any_case(http_server: HttpServer, scheme: str) -> None:
    headers = {**http_server.headers, "Authorization": f"{scheme} {http_server.token}"}
    assert http_server.post(headers=headers).status_code == 200


@pytest.mark.parametrize("sent", ["", HEADER, HEADER + "Content-Length: 100000\r\n\r\n{"])
def test_half_requests_without_the_token_leave_room_for_others(odd_file: Path, sent: str) -> None:
    with over_http("--graph", odd_file) as server, httpx2.Client(headers=server.headers) as known, ExitStack() as held:
        assert known.post(server.url, json={}).status_code == 400
        place = urlsplit(server.url)
        for _ in range(MOST_CONNECTIONS + 10):
            half = held.enter_context(socket.create_connection((place.hostname, place.port), timeout=60))
            half.sendall(sent.encode())
        assert server.post().status_code == 200
        assert known.post(server.url, json={}).status_code == 400


@pytest.mark.parametrize(
    "sent",
    [
        "",
        HEADER,
        HEADER + "Content-Length: 100000\r\n\r\n{",
        HEADER + "Authorization: Bearer {token}\r\nContent-Length: 100000\r\n\r\n{",
        HEADER + "Content-Length: 1\r\n\r\n{" + HEADER,
    ],
)
async def test_endless_requests_are_closed(odd_file: Path, monkeypatch: pytest.MonkeyPatch, sent: str) -> None:
    monkeypatch.setattr(mcp, "HEADER_SECONDS", 0.5)
    monkeypatch.setattr(mcp, "BODY_SECONDS", 0.5)
    token, told = "a-token-of-my-own-1234", asyncio.Queue[str]()
    serving = asyncio.create_task(
        serve(
            GraphSource(file=odd_file),
            Settings({"GRAPHWALK_MCP_TOKEN": token}),
            say=told.put_nowait,
            transport="http",
        )
    )
    try:
        place = urlsplit((await asyncio.wait_for(told.get(), 60)).split()[-1])
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        writer.write(sent.replace("{token}", token).encode())
        with suppress(ConnectionResetError):
            await asyncio.wait_for(reader.read(), 60)
        writer.close()
    finally:
        serving.cancel()
        await asyncio.wait([serving])


async def test_many_clients_at_once(http_server: HttpServer) -> None:
    async def visit(number: int) -> str:
        async with http_server.client() as client:
            answer = await client.call_tool("think", {"thought": str(number)})
            return str(answer.structured_content["text"])

    assert await asyncio.gather(*map(visit, range(20))) == [str(number) for number in range(20)]


def test_a_token_of_ones_own_is_not_shown(odd_file: Path) -> None:
    token = "a-token-of-my-own-1234"
    with over_http("--graph", odd_file, GRAPHWALK_MCP_TOKEN=token) as server:
        assert server.token == "$GRAPHWALK_MCP_TOKEN"
        known = HttpServer(server.url, token, server.process)
        assert (known.post().status_code, server.post().status_code) == (200, 401)
        server.process.send_signal(signal.SIGINT)
        out, errors = server.process.communicate(timeout=60)
        assert (server.process.returncode, out) == (130, "")
        assert token not in errors
        assert "Traceback" not in errors
