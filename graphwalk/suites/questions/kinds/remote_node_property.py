"""Property value of a node that is two or more steps from one node."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from graphwalk.suites.questions.brute_force import NetworkxGraph
from graphwalk.suites.questions.graph_index import GraphIndex
from graphwalk.suites.questions.walker import Centre, Layers, Steps, Walker, leading_to, spread
from graphwalk.tools.observed import KEY
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row


def rows(
    index: GraphIndex, source_label: str, key: str, target_label: str, property: str, max_hops: int
) -> Iterator[Row]:
    for a in index.with_key(source_label, key):
        # Direct neighbours are excluded even if longer paths reach them too.
        for b, distance in index.distances(a, max_hops).items():
            if distance >= 2 and index.has_label(b, target_label):
                yield {"value": index.property(b, property)}


def relaxed(
    index: GraphIndex, source_label: str, key: str, target_label: str, property: str, max_hops: int
) -> Mapping[str, Iterator[Row]]:
    reached = (b for a in index.with_key(source_label, key) for b in index.distances(a, max_hops))
    return {"negation": ({"value": index.property(b, property)} for b in reached if index.has_label(b, target_label))}


def plan(
    walker: Walker, schema: Schema, source_label: str, key: str, target_label: str, property: str, max_hops: int
) -> Steps[list[Row]]:
    """Stop at the first layer with a value, because any value is correct."""

    def values(layers: Layers) -> list[Any]:
        near = {link.target for link in layers[0]}
        remote = [link for links in layers[1:] for link in links if link.target not in near]
        labelled = [link for link in remote if target_label in link.target_labels]
        return [link.neighbor[property] for link in labelled if property in link.neighbor]

    start = Centre(source_label, KEY, key)
    layers = yield from spread(walker, schema, start, target_label, max_hops, until=lambda found: bool(values(found)))
    return [{"value": value} for value in values(layers)[:1]]


def brute_force(
    graph: NetworkxGraph, source_label: str, key: str, target_label: str, property: str, max_hops: int
) -> Iterator[Row]:
    for path in graph.paths(graph.labelled(source_label, key), max_hops):
        end = path[-1][1]
        if len(path) >= 2 and graph.has_label(end, target_label) and not graph.nx.has_edge(key, end):
            yield {"value": graph.value(end, property)}


def by_reference(
    schema: Schema, rows: list[Row], source_label: str, key: str, target_label: str, property: str, max_hops: int
) -> Mapping[str, str]:
    value = f"neighbor_properties.{property}={json.dumps(rows[0]['value'], ensure_ascii=False)}"
    return {"columns": f"value=neighbor_properties.{property}", "where": f"{leading_to(target_label)}, {value}"}
