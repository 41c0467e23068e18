"""The value of a property of some node that is reached from one node in two or more steps, and is no neighbour."""

from collections.abc import Iterator
from typing import Any

from graphwalk.suites.questions.oracle.graph_index import GraphIndex
from graphwalk.suites.questions.players.reading import Steps
from graphwalk.suites.questions.players.spreading import Layers, spread
from graphwalk.suites.questions.players.walker import KEY, Centre, Walker
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row


def rows(
    index: GraphIndex, source_label: str, key: str, target_label: str, property: str, max_hops: int
) -> Iterator[Row]:
    for a in index.with_key(source_label, key):
        # Distance 1 is a direct neighbour, which the question leaves out however else it can be reached.
        for b, distance in index.distances(a, max_hops).items():
            if distance >= 2 and index.has_label(b, target_label):
                yield {"value": index.property(b, property)}


def plan(
    walker: Walker, schema: Schema, source_label: str, key: str, target_label: str, property: str, max_hops: int
) -> Steps[list[Row]]:
    """Any value is right, so the walk ends with the first step that shows one."""

    def values(layers: Layers) -> list[Any]:
        near = {link.target for link in layers[0]}
        remote = [link for links in layers[1:] for link in links if link.target not in near]
        labelled = [link for link in remote if target_label in link.target_labels]
        return [link.neighbor[property] for link in labelled if property in link.neighbor]

    start = Centre(source_label, KEY, key)
    layers = yield from spread(walker, schema, start, target_label, max_hops, until=lambda found: bool(values(found)))
    return [{"value": value} for value in values(layers)[:1]]
