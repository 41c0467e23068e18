"""Prompts of questions: with the schema (for tools or queries) or with the whole graph."""

from graphwalk.config.agent import AgentConfig
from graphwalk.graphs.formats.json import json_lines
from graphwalk.graphs.text import graph_text
from graphwalk.models.tokens import rule_hundredths, tokens_of
from graphwalk.suites.graph_suite import tools_system
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
    """Return `tools_system`, and the question as user message."""
    return tools_system(schema, agent), Message("user", question)


def no_tools_system(graph: PropertyGraph, agent: AgentConfig) -> Message:
    """Return the system prompt with the whole graph in `agent.graph_encoding`."""
    text = graph_text(graph, agent.graph_encoding)
    form = FORMATS[agent.graph_encoding]
    return Message("system", agent.render("graph_no_tools.j2", graph=text, format=form, clock=agent.clock))


def no_tools_prompt(question: str, graph: PropertyGraph, agent: AgentConfig) -> tuple[Message, ...]:
    """Return `no_tools_system`, and the question as user message."""
    return no_tools_system(graph, agent), Message("user", question)


def whole_text_tokens(graph: PropertyGraph) -> int:
    """Count the tokens of a graph as JSON in the setting no_tools, by the rule of `graphwalk.models.tokens`."""
    return tokens_of(sum(rule_hundredths(f"{line}\n") for line in json_lines(graph, {})))
