"""Opens a graph, and serves its tools until somebody ends it."""

from collections.abc import Callable, Sequence
from typing import Literal

from graphwalk.config.agent import AgentConfig
from graphwalk.config.foreign import FOREIGN
from graphwalk.config.graph_source import GraphSource
from graphwalk.environment import Environment
from graphwalk.errors import ConfigError
from graphwalk.experiments.loading import load_experiment, parse_override
from graphwalk.mcp_server.server import graph_server
from graphwalk.mcp_server.stdio import serve_stdio
from graphwalk.mcp_server.streamable_http import serve_http
from graphwalk.stores.sources import open_source
from graphwalk.toolbox.graph_toolbox import GRAPH_TOOLS, LOOK_CLOSER
from graphwalk.toolbox.tool import LIMITS, SWITCHES, Tool, load_tools

Transport = Literal["stdio", "http"]
SETTINGS = tuple(
    f"agent.{name}" for name in (*FOREIGN, *SWITCHES, *LIMITS, "encoding", "prompts", "think", "tool_words")
)
"""Fields of an experiment that decide what a client sees."""


async def serve(
    source: GraphSource,
    environment: Environment,
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
    async with open_source(source, environment) as opened:
        schema = await opened.store.schema(agent.schema_samples)
        server = graph_server(opened.name, opened.store, schema, loaded, agent, environment)
        if transport == "stdio":
            await serve_stdio(server)
        else:
            await serve_http(server, environment, host, port, say)


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
