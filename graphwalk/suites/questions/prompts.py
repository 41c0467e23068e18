"""Tokens of a graph in a prompt."""

from graphwalk.graphs.formats.json import json_lines
from graphwalk.models.tokens import rule_hundredths, tokens_of
from graphwalk.types.graph import PropertyGraph


def whole_text_tokens(graph: PropertyGraph) -> int:
    """Count the tokens of a graph as JSON in the setting no_tools, by the rule of `graphwalk.models.tokens`."""
    return tokens_of(sum(rule_hundredths(f"{line}\n") for line in json_lines(graph, {})))
