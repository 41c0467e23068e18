"""Graphs to and from networkx: attribute `label` of a node, `type` of an edge, properties under their own names."""

from collections.abc import Iterator, Mapping
from typing import Any

import networkx as nx
import numpy as np

from graphwalk.errors import ConfigError
from graphwalk.graphs.files.attributes import (
    DEFAULT_TYPE,
    node_attributes,
    node_from_attributes,
    relationship_attributes,
    relationship_from_attributes,
)
from graphwalk.types.graph import PropertyGraph, Relationship


def to_networkx(graph: PropertyGraph) -> "nx.MultiDiGraph[str]":
    """A MultiDiGraph whose nodes are the keys; `seed` and `spec` are attributes of the graph."""
    result = nx.MultiDiGraph(seed=graph.seed, spec=dict(graph.spec))
    result.add_nodes_from((node.key, node_attributes(node)) for node in graph.nodes())
    result.add_edges_from((r.source, r.target, relationship_attributes(r)) for r in graph.relationships())
    return result


def from_networkx(graph: "nx.Graph[Any]") -> PropertyGraph:
    """A graph from any directed networkx graph, ours or somebody else's.

    Keys are the nodes as text. The label is the attribute `label` or `labels`, else "Node"; the type is `type`, `label`
    or `relation`, else the edge's key if that is text, else "RELATED". ConfigError if it is undirected, two nodes have
    the same text, or a value is not text, a number or a boolean.
    """
    if not graph.is_directed():
        raise ConfigError("the networkx graph is undirected", hint="from_networkx(graph.to_directed())")
    seed, spec = graph.graph.get("seed"), graph.graph.get("spec")
    try:
        return PropertyGraph.from_rows(
            (node_from_attributes(str(key), _plain(attributes)) for key, attributes in graph.nodes(data=True)),
            _relationships(graph),
            seed=seed if isinstance(seed, int) else None,
            spec=spec if isinstance(spec, dict) else None,
        )
    except ValueError as error:
        raise ConfigError(f"cannot use the networkx graph: {error}") from error


def _relationships(graph: "nx.Graph[Any]") -> Iterator[Relationship]:
    if not graph.is_multigraph():
        for source, target, attributes in graph.edges(data=True):
            yield relationship_from_attributes(str(source), str(target), _plain(attributes))
        return
    for source, target, key, attributes in graph.edges(keys=True, data=True):
        default = key if isinstance(key, str) and key else DEFAULT_TYPE
        yield relationship_from_attributes(str(source), str(target), _plain(attributes), default=default)


def _plain(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """numpy's scalars as Python's."""
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in attributes.items()}
