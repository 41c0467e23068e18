"""Prompts of questions: with the schema (for tools or queries) or with the whole graph."""

import json
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from graphwalk.config.agent import AgentConfig
from graphwalk.graphs.text import graph_text
from graphwalk.models.tokens import rule_hundredths
from graphwalk.tools.schema_text import schema_text
from graphwalk.types.chat import Message
from graphwalk.types.graph import MISSING, Column, PropertyGraph
from graphwalk.types.schema import Schema
from graphwalk.types.values import shown

FORMATS = {
    "json": "JSON",
    "triples": "triples",
    "incidence": "incidence lists",
    "cypher": "Cypher CREATE statements",
    "graphml": "GraphML",
}
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_COMMA = rule_hundredths(",")


def tools_prompt(question: str, schema: Schema, agent: AgentConfig) -> tuple[Message, ...]:
    """Return `tools_system`, and the question as user message."""
    return tools_system(schema, agent), Message("user", question)


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


def no_tools_prompt(question: str, graph: PropertyGraph, agent: AgentConfig) -> tuple[Message, ...]:
    """Return the system prompt with the whole graph in `agent.graph_encoding`, and the question."""
    text = graph_text(graph, agent.graph_encoding)
    form = FORMATS[agent.graph_encoding]
    system = agent.render("graph_no_tools.j2", graph=text, format=form, clock=agent.clock)
    return Message("system", system), Message("user", question)


def whole_text_tokens(graph: PropertyGraph) -> int:
    """Count the tokens of a generated graph as JSON in the setting no_tools, by the rule of `graphwalk.models.tokens`.

    Nodes must have one label, and values must be text or numbers.
    """
    keys = np.array([rule_hundredths(_encode(key)[1:-1]) for key in graph.keys], dtype=np.int64)
    total = rule_hundredths('{\n"nodes":[\n],"relationships":[\n]}')
    for nodes in graph.node_tables:
        line = {"key": "", "label": nodes.label, "properties": {}}
        total += _lines(line, len(nodes.numbers), nodes.columns) + int(keys[nodes.numbers].sum())
    for table in graph.relationship_tables:
        line = {"type": table.type, "source": "", "target": "", "properties": {}}
        total += _lines(line, len(table.sources), table.columns)
        total += int(keys[table.sources].sum() + keys[table.targets].sum())
    last = sum(bool(number) for number in (graph.node_count, graph.relationship_count))
    return round((total - last * _COMMA) / 100)


def _lines(line: Mapping[str, object], number: int, columns: Mapping[str, Column]) -> int:
    """Return the weight of `number` lines with their properties and commas, without keys."""
    total = number * rule_hundredths(_encode(line) + ",\n")
    fields: NDArray[np.int64] = np.zeros(number, dtype=np.int64)
    for name, column in columns.items():
        there = column.codes[column.codes != MISSING]
        fields += column.codes != MISSING
        texts = [f"{_encode(name)}:{_encode(shown(value))}" for value in column.pool]
        weights: NDArray[np.int64] = np.array([rule_hundredths(text) for text in texts], dtype=np.int64)
        total += int(np.bincount(there, minlength=len(column.pool)) @ weights)
    return total + _COMMA * int(np.maximum(fields - 1, 0).sum())
