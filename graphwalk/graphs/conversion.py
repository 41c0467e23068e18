"""Graphs to and from networkx.

In networkx the attribute `label` of a node is its label, `type` of an edge its type; properties keep their names.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import networkx as nx
import numpy as np

from graphwalk.errors import ConfigError
from graphwalk.graphs.formats.common import (
    Undirected,
    both_directions,
    node_attributes,
    node_from_attributes,
    relationship_attributes,
    relationship_from_attributes,
)
from graphwalk.graphs.graph import PropertyGraph, Relationship


def to_networkx(graph: PropertyGraph) -> "nx.MultiDiGraph[str]":
    """Return a MultiDiGraph whose nodes are the keys; `seed` and `spec` are attributes of the graph."""
    result = nx.MultiDiGraph(seed=graph.seed, spec=dict(graph.spec))
    result.add_nodes_from((node.key, node_attributes(node)) for node in graph.nodes())
    result.add_edges_from((r.source, r.target, relationship_attributes(r)) for r in graph.relationships())
    return result


def from_networkx(graph: "nx.Graph[Any]", undirected: Undirected = "refuse") -> PropertyGraph:
    """Return a property graph from any networkx graph.

    Keys are the nodes as text. Labels are the attribute `label` or `labels` (text, ":First:Second", or a list), else
    "Node"; the type is `type`, `label` or `relation`, else the edge's key if that is text, else "RELATED". Values are
    text, numbers, booleans, Python's or numpy's, dates and times, or lists of these; None and NaT count as missing.
    An undirected graph is refused, or with `undirected="both"` has every edge both ways. ConfigError if it
    cannot be used: two nodes have the same text, or a value is something else.
    """
    if not graph.is_directed() and undirected == "refuse":
        raise ConfigError(
            "the networkx graph is undirected, and a property graph has directions",
            hint='from_networkx(graph, undirected="both") reads every edge both ways',
        )
    seed, spec = graph.graph.get("seed"), graph.graph.get("spec")
    relationships = _relationships(graph)
    try:
        return PropertyGraph.from_rows(
            (node_from_attributes(str(key), _plain(attributes)) for key, attributes in graph.nodes(data=True)),
            relationships if graph.is_directed() else both_directions(relationships),
            seed=seed if isinstance(seed, int) else None,
            spec=spec if isinstance(spec, dict) else None,
        )
    except ValueError as error:
        raise ConfigError(f"cannot use the networkx graph: {error}") from error


def _relationships(graph: "nx.Graph[Any]") -> Iterator[Relationship]:
    keys = {"keys": True} if graph.is_multigraph() else {}
    for source, target, *name, attributes in graph.edges(data=True, **keys):
        yield relationship_from_attributes(str(source), str(target), _plain(attributes), name=next(iter(name), None))


def _plain(attributes: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(name): _plain_value(value) for name, value in attributes.items()}


def _plain_value(value: Any) -> Any:
    """Return a value without the types of numpy and pandas, None if it is missing."""
    if isinstance(value, np.ndarray):
        return [_plain_value(item) for item in value.tolist()]
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain_value(item) for item in (sorted(value) if isinstance(value, set | frozenset) else value)]
    if type(value).__name__ in ("NaTType", "NAType"):
        return None
    return value.item() if isinstance(value, np.generic) else value
