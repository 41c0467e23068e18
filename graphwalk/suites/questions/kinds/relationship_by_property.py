"""Relationships of a type with a property value, with all their properties."""

import json
from collections.abc import Iterator, Mapping

from graphwalk.suites.questions.brute_force import NetworkxGraph, same_value
from graphwalk.suites.questions.graph_index import GraphIndex
from graphwalk.suites.questions.rows import equal
from graphwalk.suites.questions.walker import NEIGHBOR_KEY, Steps, Walker, condition, links_of_type, side_of
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row, Value


def rows(index: GraphIndex, relationship_type: str, property: str, value: Value) -> Iterator[Row]:
    names = index.relationship_properties(relationship_type)
    for r in index.relationships_of.get(relationship_type, ()):
        if equal(r.properties.get(property), value):
            yield {name: r.properties.get(name) for name in names} | {"source_key": r.source, "target_key": r.target}


def plan(walker: Walker, schema: Schema, relationship_type: str, property: str, value: Value) -> Steps[list[Row]]:
    links = yield from links_of_type(walker, schema, relationship_type)
    type_ = schema.relationship(relationship_type)
    names = [property_.name for property_ in type_.properties] if type_ else []
    return [
        {**{name: link.properties.get(name) for name in names}, "source_key": link.source, "target_key": link.target}
        for link in links
        if equal(link.properties.get(property), value)
    ]


def brute_force(graph: NetworkxGraph, relationship_type: str, property: str, value: Value) -> Iterator[Row]:
    typed = [(s, t, r["properties"]) for s, t, r in graph.nx.edges(data=True) if r["type"] == relationship_type]
    names = sorted({name for _, _, own in typed for name in own})
    for source, target, own in typed:
        if same_value(own.get(property), value):
            yield {**{name: own.get(name) for name in names}, "source_key": source, "target_key": target}


def by_reference(
    schema: Schema, rows: list[Row], relationship_type: str, property: str, value: Value
) -> Mapping[str, str]:
    side = side_of(schema, relationship_type)
    source, target = ("center_key", NEIGHBOR_KEY) if side == "outgoing" else (NEIGHBOR_KEY, "center_key")
    held = [f"{name}=relationship_properties.{name}" for name in rows[0] if name not in ("source_key", "target_key")]
    kept = condition(direction=side, type=relationship_type)
    return {
        "columns": ", ".join([*held, f"source_key={source}", f"target_key={target}"]),
        "where": f"{kept}, relationship_properties.{property}={json.dumps(value, ensure_ascii=False)}",
    }
