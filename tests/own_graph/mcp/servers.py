"""`graphwalk mcp` as a real process, and the official client that talks to it."""

import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any, Literal

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.forked_commands import start, wait

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


@dataclass(frozen=True)
class StartedServer(HttpServer):
    """A server that this test started; `output` and `errors` are the files of its streams."""

    process: ForkServerProcess
    output: Path
    errors: Path


@contextmanager
def over_http(*words: object, **own: str) -> Iterator[StartedServer]:
    """A server at a free port, ended at the end."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "stdout")
        errors = Path(folder, "stderr")
        output.touch()
        errors.touch()
        command = ("mcp", "--transport", "http", "--port", 0, *words)
        process = start(command, variables(**own), Path.cwd(), [Path(os.devnull), output, errors])
        try:
            url, token = _address_and_token(process, errors)
            yield StartedServer(url, token, process, output, errors)
        finally:
            process.terminate()
            wait(process)


def _address_and_token(process: ForkServerProcess, errors: Path) -> tuple[str, str]:
    """Wait for the first two lines that a server prints, which end with its address and its token."""
    while True:
        lines = errors.read_text(encoding="utf-8").splitlines(keepends=True)
        if len(lines) >= 2 and lines[1].endswith("\n"):
            return lines[0].split()[-1], lines[1].split()[-1]
        assert process.is_alive(), lines
        time.sleep(0.01)


def text_of(result: Any) -> str:
    (block,) = result.content
    return str(block.text)
