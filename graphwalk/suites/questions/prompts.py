"""What a model is told before a question: the schema (with tools or queries) or the whole graph."""

from graphwalk.config.agent import AgentConfig
from graphwalk.graphs.text import graph_text
from graphwalk.toolbox.schema_text import schema_text
from graphwalk.types.chat import Message
from graphwalk.types.graph import PropertyGraph
from graphwalk.types.schema import Schema

FORMATS = {
    "json": "JSON",
    "triples": "triples",
    "incidence": "incidence lists",
    "cypher": "Cypher CREATE statements",
    "graphml": "GraphML",
}


def tools_prompt(question: str, schema: Schema, agent: AgentConfig) -> tuple[Message, ...]:
    """What a model that walks by tools is told: `tools_system`, and the question as user message."""
    return tools_system(schema, agent), Message("user", question)


def tools_system(schema: Schema, agent: AgentConfig) -> Message:
    """The same for all questions about a graph. Where the schema may have only so many tokens, what fits of it."""
    if agent.schema_tokens is not None:
        text = agent.render("graph_foreign.j2", schema=schema_text(schema, agent), clock=agent.clock)
        return Message("system", text)
    return _with_schema("graph_tools.j2", schema, agent)


def write_cypher_system(schema: Schema, agent: AgentConfig) -> Message:
    """The same for a model that writes queries."""
    return _with_schema("graph_write_cypher.j2", schema, agent)


def _with_schema(prompt: str, schema: Schema, agent: AgentConfig) -> Message:
    """System prompt with the schema table (docs/method.md, Schema).

    Sample values are shown where `schema` has some: it is read from the store with `agent.schema_samples` of them.
    """
    rows = tuple(schema.rows())
    samples = any(row.property is not None and row.property.samples for row in rows)
    return Message("system", agent.render(prompt, rows=rows, samples=samples, clock=agent.clock))


def no_tools_prompt(question: str, graph: PropertyGraph, agent: AgentConfig) -> tuple[Message, ...]:
    """System prompt with the whole graph in `agent.graph_encoding`, and the question as user message."""
    text = graph_text(graph, agent.graph_encoding)
    form = FORMATS[agent.graph_encoding]
    system = agent.render("graph_no_tools.j2", graph=text, format=form, clock=agent.clock)
    return Message("system", system), Message("user", question)
