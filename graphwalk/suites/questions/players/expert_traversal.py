"""The expert's plans for the four questions about paths."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from graphwalk.suites.questions.players.reach import on_the_way, reached, successors
from graphwalk.suites.questions.players.reading import Steps
from graphwalk.suites.questions.players.walker import KEY, Centre, Link, Walker
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row

Parameters = Mapping[str, Any]
Layers = list[list[Link]]
"""Relationships that begin at nodes 0, 1, … steps away from a start."""


def path_finding(walker: Walker, schema: Schema, p: Parameters) -> Steps[list[Row]]:
    """Both steps of every path touch a node in the middle, so these nodes are all that is looked at."""
    links = yield from walker.relationships({p["middle_label"]})
    onward: defaultdict[str, list[Link]] = defaultdict(list)
    for link in links:
        if (link.source_label, link.target_label) == (p["middle_label"], p["target_label"]):
            onward[link.source].append(link)
    return _ends(
        (first.source, second.target)
        for first in links
        if (first.source_label, first.target_label) == (p["source_label"], p["middle_label"])
        for second in onward[first.target]
        if second is not first  # a loop is one relationship, and cannot be both steps
    )


def variable_hop_path(walker: Walker, schema: Schema, p: Parameters) -> Steps[list[Row]]:
    """All labels from which a target may still be reached are looked at as a whole.

    The further step needs a relationship that the way to the target did not use. A way to another node uses none that
    begins there; a way back to the start uses one, so that the start needs a second.
    """
    source, target, hops = p["source_label"], p["target_label"], p["max_hops"]
    links = yield from walker.relationships({target}.union(*on_the_way(schema, source, target, hops)))
    follow = successors(links)
    degree = Counter(link.source for link in links)
    labels = {link.source: link.source_label for link in links}
    return _ends(
        (start, end)
        for start in follow
        if labels[start] == source
        for end in reached(start, hops, follow)
        if labels.get(end) == target and degree[end] >= (2 if end == start else 1)
    )


def path_from_specific_node(walker: Walker, schema: Schema, p: Parameters) -> Steps[list[Row]]:
    """Node by node from the start: its surroundings are smaller than whole labels."""
    layers = yield from _spread(walker, schema, p, until=_never)
    found = {link.target for links in layers for link in links if link.target_label == p["target_label"]}
    return [{"target_node_key": key} for key in sorted(found)]


def remote_node_property(walker: Walker, schema: Schema, p: Parameters) -> Steps[list[Row]]:
    """Any value is right, so the walk ends with the first step that shows one."""

    def values(layers: Layers) -> list[Any]:
        near = {link.target for link in layers[0]}
        remote = [link for links in layers[1:] for link in links if link.target not in near]
        return [
            link.neighbor[p["property"]]
            for link in remote
            if link.target_label == p["target_label"] and p["property"] in link.neighbor
        ]

    layers = yield from _spread(walker, schema, p, until=lambda layers: bool(values(layers)))
    return [{"value": value} for value in values(layers)[:1]]


def _spread(walker: Walker, schema: Schema, p: Parameters, until: Callable[[Layers], bool]) -> Steps[Layers]:
    """Walk on from all nodes of a layer at once, but only where the target label may still be reached."""
    layers: Layers = []
    seen: set[Centre] = set()
    edge = {Centre(p["source_label"], KEY, p["key"])}
    for labels in on_the_way(schema, p["source_label"], p["target_label"], p["max_hops"]):
        fresh = {node for node in edge - seen if node.label in labels}
        layers.append((yield from walker.outgoing(sorted(fresh))))
        if until(layers):
            break
        seen |= fresh
        edge = {Centre(link.target_label, KEY, link.target) for link in layers[-1]}
    return layers


def _never(layers: Layers) -> bool:
    return False


def _ends(pairs: Iterable[tuple[str, str]]) -> list[Row]:
    return [{"source_node_key": source, "target_node_key": target} for source, target in sorted(set(pairs))]
