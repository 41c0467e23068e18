"""Which nodes of a label have a value in a property."""

from collections.abc import Iterator

from graphwalk.suites.questions.oracle.equality import equal
from graphwalk.suites.questions.oracle.graph_index import GraphIndex
from graphwalk.suites.questions.players.answer_rows import node_keys
from graphwalk.suites.questions.players.reading import Steps, nodes, read
from graphwalk.suites.questions.players.walker import Walker
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row, Value


def rows(index: GraphIndex, label: str, property: str, value: Value) -> Iterator[Row]:
    return ({"node_key": key} for key in index.keys_with(label, property, value))


def plan(walker: Walker, schema: Schema, label: str, property: str, value: Value) -> Steps[list[Row]]:
    (found,) = yield from read([nodes(label, property, value)])
    # The tool tries a number given as text as a number where nothing else matches.
    return node_keys(r["properties"]["key"] for r in found if equal(r["properties"].get(property), value))
