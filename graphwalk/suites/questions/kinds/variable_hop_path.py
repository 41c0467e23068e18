"""Pairs of nodes joined by a path of a few steps that can be continued by one more."""

from collections import Counter
from collections.abc import Iterator, Mapping

from graphwalk.suites.questions.brute_force import NetworkxGraph
from graphwalk.suites.questions.graph_index import GraphIndex
from graphwalk.suites.questions.walker import Steps, Walker, end_keys, on_the_way, reached, successors
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row


def rows(index: GraphIndex, source_label: str, target_label: str, max_hops: int) -> Iterator[Row]:
    for a in index.keys_of(source_label):
        for b in index.distances(a, max_hops):
            # Only a cycle uses an outgoing relationship of its end.
            used = 1 if b == a else 0
            if index.has_label(b, target_label) and len(index.outgoing[b]) > used:
                yield {"source_node_key": a, "target_node_key": b}


def relaxed(index: GraphIndex, source_label: str, target_label: str, max_hops: int) -> Mapping[str, Iterator[Row]]:
    pairs = ((a, b) for a in index.keys_of(source_label) for b in index.distances(a, max_hops))
    reached = ((a, b) for a, b in pairs if index.has_label(b, target_label))
    return {"further step": ({"source_node_key": a, "target_node_key": b} for a, b in reached)}


def plan(walker: Walker, schema: Schema, source_label: str, target_label: str, max_hops: int) -> Steps[list[Row]]:
    """Read whole labels from which a target is still reachable.

    The further step needs an unused relationship. Only a cycle uses an outgoing relationship of its end, which then
    needs a second one.
    """
    on_way = on_the_way(schema, source_label, target_label, max_hops)
    links = yield from walker.relationships({target_label}.union(*on_way))
    follow = successors(links)
    degree = Counter(link.source for link in links)
    labels = {link.source: link.source_labels for link in links}
    return end_keys(
        (start, end)
        for start in follow
        if source_label in labels[start]
        for end in reached(start, max_hops, follow)
        if target_label in labels.get(end, ()) and degree[end] >= (2 if end == start else 1)
    )


def brute_force(graph: NetworkxGraph, source_label: str, target_label: str, max_hops: int) -> Iterator[Row]:
    for path in graph.paths(graph.labelled(source_label), max_hops):
        end = path[-1][1]
        onward = (edge for edge in graph.nx.out_edges(end, keys=True) if edge not in path)
        if graph.has_label(end, target_label) and next(onward, None):
            yield {"source_node_key": path[0][0], "target_node_key": end}
