"""Graphs to and from networkx.

In networkx the attribute `label` of a node is its label, `type` of an edge its type; properties keep their names.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import networkx as nx
import numpy as np

from graphwalk.config.graph_source import Undirected
from graphwalk.errors import ConfigError
from graphwalk.graphs.formats.common import Edge, Entity, by_name, graph_of, has_usual
from graphwalk.graphs.graph import Node, PropertyGraph


def to_networkx(graph: PropertyGraph) -> "nx.MultiDiGraph[str]":
    """Return a MultiDiGraph whose nodes are the keys; `seed` and `spec` are attributes of the graph."""
    result = nx.MultiDiGraph(seed=graph.seed, spec=dict(graph.spec))
    result.add_nodes_from((node.key, _node_attributes(node)) for node in graph.nodes())
    for r in graph.relationships():
        _must_be_free("type", f"{r.source} to {r.target}", r.properties)
        result.add_edges_from([(r.source, r.target, {"type": r.type, **by_name(r.properties)})])
    return result


def _node_attributes(node: Node) -> dict[str, Any]:
    """Return attributes: one label as text under `label`; several or none as a list under `labels`."""
    one = len(node.labels) == 1 and not node.label.startswith(":")
    for reserved in ("label",) if one else ("label", "labels"):
        _must_be_free(reserved, node.key, node.properties)
    labels = {"label": node.labels[0]} if one else {"labels": list(node.labels)}
    return {**labels, **by_name(node.properties)}


def _must_be_free(reserved: str, where: str, properties: Mapping[str, Any]) -> None:
    if reserved in properties:
        raise ConfigError(
            f"{where} has a property {reserved!r}, which networkx needs for labels and types",
            hint="save the graph as JSON, or rename the property",
        )


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
    try:
        return graph_of(
            (Entity(f"node {key!r}", _plain(attributes), str(key)) for key, attributes in graph.nodes(data=True)),
            _edges(graph),
            undirected,
            seed=seed if isinstance(seed, int) else None,
            spec=spec if isinstance(spec, dict) else None,
        )
    except ValueError as error:
        raise ConfigError(f"cannot use the networkx graph: {error}") from error


def _edges(graph: "nx.Graph[Any]") -> Iterator[Edge]:
    keys = {"keys": True} if graph.is_multigraph() else {}
    for source, target, *name, attributes in graph.edges(data=True, **keys):
        where, fields = f"relationship from {source!r} to {target!r}", _plain(attributes)
        if name and isinstance(name[0], str) and name[0] and not has_usual(fields, "type"):
            fields["type"] = name[0]
        yield Edge(where, fields, str(source), str(target), directed=graph.is_directed())


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
