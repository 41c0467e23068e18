"""Which nodes with a value have a relationship of a type to a node of a label, whose own value is another."""

from collections.abc import Iterator

from graphwalk.suites.questions.oracle.equality import differs
from graphwalk.suites.questions.oracle.graph_index import GraphIndex
from graphwalk.suites.questions.players.answer_rows import node_keys
from graphwalk.suites.questions.players.reading import Steps
from graphwalk.suites.questions.players.walker import Centre, Walker
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row, Value


def rows(
    index: GraphIndex,
    source_label: str,
    node_property: str,
    node_value: Value,
    relationship_type: str,
    target_label: str,
    relationship_property: str,
    excluded_value: Value,
) -> Iterator[Row]:
    for key in index.keys_with(source_label, node_property, node_value):
        if any(
            r.type == relationship_type
            and index.has_label(r.target, target_label)
            and differs(r.properties.get(relationship_property), excluded_value)
            for r in index.outgoing[key]
        ):
            yield {"node_key": key}


def plan(
    walker: Walker,
    schema: Schema,
    source_label: str,
    node_property: str,
    node_value: Value,
    relationship_type: str,
    target_label: str,
    relationship_property: str,
    excluded_value: Value,
) -> Steps[list[Row]]:
    links = yield from walker.outgoing([Centre(source_label, node_property, node_value)])
    return node_keys(
        link.source
        for link in links
        if link.type == relationship_type
        and target_label in link.target_labels
        and differs(link.properties.get(relationship_property), excluded_value)
    )
