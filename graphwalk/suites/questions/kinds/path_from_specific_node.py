"""Nodes of a label within a few steps of one node."""

from collections.abc import Iterator, Mapping

from graphwalk.suites.questions.brute_force import NetworkxGraph
from graphwalk.suites.questions.graph_index import GraphIndex
from graphwalk.suites.questions.walker import NEIGHBOR_KEY, Centre, Steps, Walker, leading_to, spread
from graphwalk.tools.observed import KEY
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row


def rows(index: GraphIndex, source_label: str, key: str, target_label: str, max_hops: int) -> Iterator[Row]:
    for a in index.with_key(source_label, key):
        for b in index.distances(a, max_hops):
            if index.has_label(b, target_label):
                yield {"target_node_key": b}


def plan(
    walker: Walker, schema: Schema, source_label: str, key: str, target_label: str, max_hops: int
) -> Steps[list[Row]]:
    """Walk node by node from the start, whose surroundings are smaller than whole labels."""
    start = Centre(source_label, KEY, key)
    layers = yield from spread(walker, schema, start, target_label, max_hops, until=lambda layers: False)
    found = {link.target for links in layers for link in links if target_label in link.target_labels}
    return [{"target_node_key": key} for key in sorted(found)]


def brute_force(graph: NetworkxGraph, source_label: str, key: str, target_label: str, max_hops: int) -> Iterator[Row]:
    for path in graph.paths(graph.labelled(source_label, key), max_hops):
        if graph.has_label(path[-1][1], target_label):
            yield {"target_node_key": path[-1][1]}


def by_reference(
    schema: Schema, rows: list[Row], source_label: str, key: str, target_label: str, max_hops: int
) -> Mapping[str, str]:
    return {"columns": f"target_node_key={NEIGHBOR_KEY}", "where": leading_to(target_label)}
