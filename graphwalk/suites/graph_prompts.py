"""System prompts and tools of the settings `tools` and `write_cypher`, for suites whose tasks are about one graph."""

from collections.abc import Sequence

from graphwalk.config.agent import AgentConfig
from graphwalk.stores.base import GraphStore
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.tools.schema_text import schema_text
from graphwalk.tools.tool import Tool, load_tools
from graphwalk.types.chat import Message
from graphwalk.types.schema import Schema

QUERY_TOOLS = ("run_cypher",)
"""Tools of the setting write_cypher."""


async def prompt_and_tools(
    setting: str, store: GraphStore | None, agent: AgentConfig, tools: Sequence[Tool] | None
) -> tuple[Message, GraphToolbox]:
    """Return the system prompt and the tools of a setting; `tools` (None: the default) are those of `tools`."""
    assert store is not None
    schema = await store.schema(agent.schema_samples)
    if setting == "write_cypher":
        toolbox = GraphToolbox(store, schema, load_tools(QUERY_TOOLS), agent)
        return with_schema("graph_write_cypher.j2", schema, agent), toolbox
    return tools_system(schema, agent), GraphToolbox(store, schema, tools, agent)


def tools_system(schema: Schema, agent: AgentConfig) -> Message:
    """Return the system prompt with the schema, shortened to `agent.schema_tokens` if set."""
    if agent.schema_tokens is None:
        return with_schema("graph_tools.j2", schema, agent)
    return Message("system", agent.render("graph_foreign.j2", schema=schema_text(schema, agent), clock=agent.clock))


def with_schema(prompt: str, schema: Schema, agent: AgentConfig) -> Message:
    """Return the system prompt with the schema table (docs/method.md, Schema) and its sample values, if any."""
    rows = tuple(schema.rows())
    samples = any(row.property is not None and row.property.samples for row in rows)
    return Message("system", agent.render(prompt, rows=rows, samples=samples, clock=agent.clock))
