"""Which nodes of a label are reached from one node in a few steps."""

from collections.abc import Iterator

from graphwalk.suites.questions.oracle.graph_index import GraphIndex
from graphwalk.suites.questions.players.reading import Steps
from graphwalk.suites.questions.players.spreading import Layers, spread
from graphwalk.suites.questions.players.walker import KEY, Centre, Walker
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
    """Node by node from the start: its surroundings are smaller than whole labels."""
    start = Centre(source_label, KEY, key)
    layers = yield from spread(walker, schema, start, target_label, max_hops, until=_never)
    found = {link.target for links in layers for link in links if target_label in link.target_labels}
    return [{"target_node_key": key} for key in sorted(found)]


def _never(layers: Layers) -> bool:
    return False
