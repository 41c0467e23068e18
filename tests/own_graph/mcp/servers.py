"""`graphwalk mcp` as a real process, and the official client that talks to it."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

MODES: Sequence[Literal["legacy", "auto"]] = ("legacy", "auto")
"""The handshake that all clients know, and the newest form of the protocol."""
WORDS = [sys.executable, "-m", "graphwalk", "mcp"]
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
OPENING = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}


def variables(**own: str) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("NEO4J_", "GRAPHWALK_MCP"))}
    return {**inherited, "NO_COLOR": "1", **own}


@asynccontextmanager
async def over_stdio(
    *words: object, mode: Literal["legacy", "auto"] = "auto", errors: Path | None = None, **own: str
) -> AsyncIterator[Client]:
    """A client that has started the server."""
    program = StdioServerParameters(command=WORDS[0], args=[*WORDS[1:], *map(str, words)], env=variables(**own))
    with (errors or Path(os.devnull)).open("w") as file:
        async with Client(stdio_client(program, errlog=file), mode=mode) as client:
            yield client


@dataclass(frozen=True)
class HttpServer:
    """Where it answers, and the token that it made."""

    url: str
    token: str
    process: "subprocess.Popen[str]"

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}", "Accept": "application/json, text/event-stream"}

    def post(self, body: Any = OPENING, headers: dict[str, str] | None = None, **raw: Any) -> httpx2.Response:
        sent = raw or {"json": body}
        return httpx2.post(self.url, headers=self.headers if headers is None else headers, timeout=60, **sent)

    @asynccontextmanager
    async def client(self, mode: Literal["legacy", "auto"] = "auto") -> AsyncIterator[Client]:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {self.token}"}, timeout=60) as http,
            Client(streamable_http_client(self.url, http_client=http), mode=mode) as client,
        ):
            yield client


@contextmanager
def over_http(*words: object, **own: str) -> Iterator[HttpServer]:
    """A server at a free port, ended at the end."""
    process = subprocess.Popen(
        [*WORDS, "--transport", "http", "--port", "0", *map(str, words)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=variables(**own),
    )
    with process:
        try:
            assert process.stderr is not None
            url, token = (process.stderr.readline().split()[-1] for _ in range(2))
            yield HttpServer(url, token, process)
        finally:
            process.terminate()
            process.communicate(timeout=60)


def text_of(result: Any) -> str:
    (block,) = result.content
    return str(block.text)
