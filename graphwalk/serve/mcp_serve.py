"""Over stdin and stdout: one client, which started us."""

import io
import os
import select
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server

from graphwalk.config.agent import FOREIGN, AgentConfig
from graphwalk.config.graph_source import GraphSource
from graphwalk.errors import ConfigError
from graphwalk.experiments.loading import load_experiment, parse_override
from graphwalk.serve.mcp import graph_server
from graphwalk.serve.mcp_http import serve_http
from graphwalk.settings import Settings
from graphwalk.stores.sources import open_source
from graphwalk.toolbox.graph_toolbox import GRAPH_TOOLS, LOOK_CLOSER
from graphwalk.toolbox.tool import LIMITS, SWITCHES, Tool, load_tools


async def serve_stdio(server: Server[Any]) -> None:
    """Until stdin closes, or the work is cancelled. stdout holds the protocol and nothing else."""
    with _own_streams() as (stdin, stdout, stop):
        async with stdio_server(anyio.wrap_file(stdin), anyio.wrap_file(stdout)) as (read, write):
            try:
                await server.run(read, write, server.create_initialization_options())
            finally:
                stop()


class _Stoppable(io.RawIOBase):
    """What a descriptor gives, ended by a byte in a pipe: a thread that waits for input cannot be ended otherwise."""

    def __init__(self, descriptor: int, stop: int) -> None:
        self._descriptor = descriptor
        self._stop = stop

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        ready, _, _ = select.select([self._descriptor, self._stop], [], [])
        return 0 if self._stop in ready else os.readv(self._descriptor, [buffer])


@contextmanager
def _own_streams() -> Iterator[tuple[Any, Any, Any]]:
    """stdin, stdout, and a function that ends stdin.

    Meanwhile file descriptor 0 is empty and 1 is stderr, so that nothing else reads or disturbs the protocol.
    """
    sys.stdout.flush()
    wire_in, wire_out = os.dup(0), os.dup(1)
    heard, told = os.pipe()
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(2, 1)
    reader = io.TextIOWrapper(io.BufferedReader(_Stoppable(wire_in, heard)), encoding="utf-8", errors="replace")
    writer = os.fdopen(wire_out, "w", encoding="utf-8")
    try:
        yield reader, writer, lambda: os.write(told, b"x")
    finally:
        os.dup2(wire_in, 0)
        os.dup2(wire_out, 1)
        for descriptor in (wire_in, heard, told):
            os.close(descriptor)
        writer.close()


Transport = Literal["stdio", "http"]
SETTINGS = tuple(
    f"agent.{name}" for name in (*FOREIGN, *SWITCHES, *LIMITS, "encoding", "prompts", "think", "tool_words")
)
"""Fields of an experiment that decide what a client sees."""


async def serve(
    source: GraphSource,
    settings: Settings,
    *,
    say: Callable[[str], None],
    transport: Transport = "stdio",
    host: str = "127.0.0.1",
    port: int = 0,
    tools: Sequence[str] | None = None,
    overrides: Sequence[str] = (),
) -> None:
    """Until stdin closes (stdio) or the work is cancelled. `say` tells people; `tools` by name or file.

    `overrides` are `key=value`, as of an experiment. ConfigError and StoreError where the graph cannot be opened, a
    tool or an override is wrong, or the port is taken.
    """
    loaded, agent = _offered(tools or (*GRAPH_TOOLS, LOOK_CLOSER)), _agent(overrides)
    async with open_source(source, settings) as opened:
        schema = await opened.store.schema(agent.schema_samples)
        server = graph_server(opened.name, opened.store, schema, loaded, agent, settings)
        if transport == "stdio":
            await serve_stdio(server)
        else:
            await serve_http(server, settings, host, port, say)


def _offered(names: Sequence[str]) -> tuple[Tool, ...]:
    """ConfigError for a tool that keeps something of an episode, such as which cells were visited."""
    tools = load_tools(names)
    for tool in tools:
        if tool.messages:
            raise ConfigError(f"the tool {tool.name} works in its own suite only", hint="graphwalk tools lists all")
    return tools


def _agent(overrides: Sequence[str]) -> AgentConfig:
    for override in overrides:
        key, _ = parse_override(override)
        if key not in SETTINGS:
            raise ConfigError(
                f"-o {override}: the server has no setting {key}", hint=f"settings: {', '.join(SETTINGS)}"
            )
    return load_experiment({"name": "mcp", "suite": {"name": "ask"}, "agent": dict(FOREIGN)}, overrides).agent
