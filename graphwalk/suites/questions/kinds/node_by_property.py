"""Nodes of a label with a property value."""

import json
from collections.abc import Iterator, Mapping

from graphwalk.suites.questions.brute_force import NetworkxGraph, same_value
from graphwalk.suites.questions.graph_index import GraphIndex
from graphwalk.suites.questions.rows import equal
from graphwalk.suites.questions.walker import Steps, Walker, node_keys, nodes, read
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row, Value


def rows(index: GraphIndex, label: str, property: str, value: Value) -> Iterator[Row]:
    return ({"node_key": key} for key in index.keys_with(label, property, value))


def plan(walker: Walker, schema: Schema, label: str, property: str, value: Value) -> Steps[list[Row]]:
    (found,) = yield from read([nodes(label, property, value)])
    # The tool tries a number given as text as a number where nothing else matches.
    return node_keys(r["properties"]["key"] for r in found if equal(r["properties"].get(property), value))


def brute_force(graph: NetworkxGraph, label: str, property: str, value: Value) -> Iterator[Row]:
    return ({"node_key": key} for key in graph.labelled(label) if same_value(graph.value(key, property), value))


def by_reference(schema: Schema, rows: list[Row], label: str, property: str, value: Value) -> Mapping[str, str]:
    written = json.dumps(value, ensure_ascii=False)
    return {"columns": "node_key=properties.key", "where": f"properties.{property}={written}"}
