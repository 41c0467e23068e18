"""Walking on from one node, step by step, on all ways at once."""

from collections.abc import Callable

from graphwalk.suites.questions.players.link import Link
from graphwalk.suites.questions.players.reach import on_the_way
from graphwalk.suites.questions.players.reading import Steps
from graphwalk.suites.questions.players.walker import KEY, Centre, Walker
from graphwalk.types.schema import Schema

Layers = list[list[Link]]
"""Relationships that begin at nodes 0, 1, … steps away from a start."""


def spread(
    walker: Walker, schema: Schema, start: Centre, target_label: str, hops: int, until: Callable[[Layers], bool]
) -> Steps[Layers]:
    """Walk on from all nodes of a layer at once, but only where the target label may still be reached."""
    layers: Layers = []
    seen: set[str] = set()
    edge = {str(start.value): frozenset([start.label])}
    for labels in on_the_way(schema, start.label, target_label, hops):
        fresh = {key: edge[key] & labels for key in edge.keys() - seen if edge[key] & labels}
        layers.append((yield from walker.outgoing(sorted(Centre(min(own), KEY, key) for key, own in fresh.items()))))
        if until(layers):
            break
        seen |= fresh.keys()
        edge = {link.target: link.target_labels for link in layers[-1]}
    return layers
