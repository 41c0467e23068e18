"""Nodes with a value and a relationship to a label, whose property differs from an excluded value."""

import json
from collections.abc import Iterator, Mapping

from graphwalk.suites.questions.brute_force import NetworkxGraph, same_value
from graphwalk.suites.questions.graph_index import GraphIndex
from graphwalk.suites.questions.rows import differs
from graphwalk.suites.questions.walker import Centre, Steps, Walker, condition, node_keys
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


def relaxed(
    index: GraphIndex,
    source_label: str,
    node_property: str,
    node_value: Value,
    relationship_type: str,
    target_label: str,
    relationship_property: str,
    excluded_value: Value,
) -> Mapping[str, Iterator[Row]]:
    kept = source_label, node_property, node_value, relationship_type, target_label, relationship_property
    return {"negation": rows(index, *kept, excluded_value="\0")}


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


def brute_force(
    graph: NetworkxGraph,
    source_label: str,
    node_property: str,
    node_value: Value,
    relationship_type: str,
    target_label: str,
    relationship_property: str,
    excluded_value: Value,
) -> Iterator[Row]:
    for source, target, data in graph.nx.edges(data=True):
        found = data["properties"].get(relationship_property)
        if (
            data["type"] == relationship_type
            and graph.has_label(source, source_label)
            and graph.has_label(target, target_label)
            and same_value(graph.value(source, node_property), node_value)
            and found is not None
            and not same_value(found, excluded_value)
        ):
            yield {"node_key": source}


def by_reference(
    schema: Schema,
    rows: list[Row],
    source_label: str,
    node_property: str,
    node_value: Value,
    relationship_type: str,
    target_label: str,
    relationship_property: str,
    excluded_value: Value,
) -> Mapping[str, str]:
    kept = condition(direction="outgoing", type=relationship_type, neighbor_label=target_label)
    unlike = f"relationship_properties.{relationship_property}!={json.dumps(excluded_value)}"
    return {"columns": "node_key=center_key", "where": f"{kept}, {unlike}"}
