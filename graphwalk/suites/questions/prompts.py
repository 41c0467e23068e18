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
    """What a model that walks by tools is told; where the schema may have only so many tokens, what fits of it."""
    if agent.schema_tokens is not None:
        system = agent.render("graph_foreign.j2", schema=schema_text(schema, agent), clock=agent.clock)
        return Message("system", system), Message("user", question)
    return _with_schema("graph_tools.j2", question, schema, agent)


def write_cypher_prompt(question: str, schema: Schema, agent: AgentConfig) -> tuple[Message, ...]:
    """What a model that writes queries is told."""
    return _with_schema("graph_write_cypher.j2", question, schema, agent)


def _with_schema(prompt: str, question: str, schema: Schema, agent: AgentConfig) -> tuple[Message, ...]:
    """System prompt with the schema table (docs/method.md, Schema), and the question as user message.

    Sample values are shown where `schema` has some: it is read from the store with `agent.schema_samples` of them.
    """
    rows = tuple(schema.rows())
    samples = any(row.property is not None and row.property.samples for row in rows)
    system = agent.render(prompt, rows=rows, samples=samples, clock=agent.clock)
    return Message("system", system), Message("user", question)


def no_tools_prompt(question: str, graph: PropertyGraph, agent: AgentConfig) -> tuple[Message, ...]:
    """System prompt with the whole graph in `agent.graph_encoding`, and the question as user message."""
    text = graph_text(graph, agent.graph_encoding)
    form = FORMATS[agent.graph_encoding]
    system = agent.render("graph_no_tools.j2", graph=text, format=form, clock=agent.clock)
    return Message("system", system), Message("user", question)
