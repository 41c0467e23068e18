"""From which nodes which nodes are reached in a few steps, with one more step leading on."""

from collections import Counter
from collections.abc import Iterator

from graphwalk.suites.questions.brute_force import NetworkxGraph
from graphwalk.suites.questions.graph_index import GraphIndex
from graphwalk.suites.questions.walker import Steps, Walker, end_keys, on_the_way, reached, successors
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row


def rows(index: GraphIndex, source_label: str, target_label: str, max_hops: int) -> Iterator[Row]:
    for a in index.keys_of(source_label):
        for b in index.distances(a, max_hops):
            # A shortest path leaves its end only where it is a cycle: then one relationship of b is used up.
            used = 1 if b == a else 0
            if index.has_label(b, target_label) and len(index.outgoing[b]) > used:
                yield {"source_node_key": a, "target_node_key": b}


def plan(walker: Walker, schema: Schema, source_label: str, target_label: str, max_hops: int) -> Steps[list[Row]]:
    """All labels from which a target may still be reached are looked at as a whole.

    The further step needs a relationship that the way to the target did not use. A way to another node uses none that
    begins there; a way back to the start uses one, so that the start needs a second.
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
