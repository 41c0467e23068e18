"""How many tokens a whole graph has as text, worked out from its columns: of a million nodes the text is never made."""

import json
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from graphwalk.models.tokens import rule_hundredths
from graphwalk.types.graph import MISSING, Column, PropertyGraph
from graphwalk.types.values import Value, shown

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_COMMA = rule_hundredths(",")
_HEAD = '{\n"nodes":[\n],"relationships":[\n]}'


def whole_text_tokens(graph: PropertyGraph) -> int:
    """Tokens of the graph as JSON, as the setting no_tools shows it, by the rule of `graphwalk.models.tokens`.

    For graphs as they are generated: with one label for each node, and with text and numbers.
    """
    keys = np.array([rule_hundredths(_encode(key)[1:-1]) for key in graph.keys], dtype=np.int64)
    total = rule_hundredths(_HEAD)
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
    """The weight of so many lines that differ in their properties, with commas behind them; keys are left out."""
    total = number * rule_hundredths(_encode(line) + ",\n")
    fields: NDArray[np.int64] = np.zeros(number, dtype=np.int64)
    for name, column in columns.items():
        there = column.codes[column.codes != MISSING]
        fields += column.codes != MISSING
        total += int(np.bincount(there, minlength=len(column.pool)) @ _weights(name, column.pool))
    return total + _COMMA * int(np.maximum(fields - 1, 0).sum())


def _weights(name: str, pool: Sequence[Value]) -> NDArray[np.int64]:
    label = _encode(name)
    return np.array([rule_hundredths(f"{label}:{_encode(shown(value))}") for value in pool], dtype=np.int64)
