"""Which nodes a walk of a few steps reaches.

Cypher matches trails: no relationship is used twice. The plans look for walks instead, which is the same here: a
shortest walk from a to b repeats no node, hence no relationship, and one that returns to a uses one relationship
that begins at a. So `(a)-[*1..n]->(b)` holds if b can be reached in 1..n steps at all.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from graphwalk.suites.questions.players.link import Link
from graphwalk.types.schema import Schema

Successors = Mapping[str, set[str]]


def successors(links: Iterable[Link]) -> Successors:
    """Key of a node → keys of the nodes that one step leads to."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for link in links:
        found[link.source].add(link.target)
    return found


def reached(start: str, hops: int, follow: Successors) -> set[str]:
    """Nodes that 1..hops steps lead to; the start itself only by a way back to it."""
    found: set[str] = set()
    edge = {start}
    for _ in range(hops):
        edge = {target for node in edge for target in follow.get(node, ())} - found
        found |= edge
    return found


def label_steps(schema: Schema) -> dict[str, set[str]]:
    """Label → labels that one relationship leads to."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for type_ in schema.relationships:
        for source, target in type_.pairs:
            found[source].add(target)
    return found


def on_the_way(schema: Schema, source: str, target: str, hops: int) -> list[set[str]]:
    """Labels worth walking on from after 0, 1, … hops-1 steps: those from which the target may still be reached."""
    follow = label_steps(schema)
    layers = [{source}]
    for _ in range(hops - 1):
        layers.append({label for previous in layers[-1] for label in follow.get(previous, ())})
    return [
        {label for label in layer if target in reached(label, hops - depth, follow)}
        for depth, layer in enumerate(layers)
    ]
