"""Over HTTP: who may talk to it, how much, and how it ends."""

import signal
import socket
import time
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from graphwalk.own_graph.mcp import MOST_CONNECTIONS
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


def test_a_token_of_ones_own_is_not_shown(odd_file: Path) -> None:
    token = "a-token-of-my-own-1234"
    with over_http("--graph", odd_file, GRAPHWALK_MCP_TOKEN=token) as server:
        assert server.token == "$GRAPHWALK_MCP_TOKEN"
        with_token = HttpServer(server.url, token, server.process)
        assert (with_token.post().status_code, server.post().status_code) == (200, 401)
        server.process.send_signal(signal.SIGINT)
        out, errors = server.process.communicate(timeout=60)
        assert (server.process.returncode, out) == (130, "")
        assert token not in errors
        assert "Traceback" not in errors
