"""Graphs to and from networkx.

In networkx the attribute `label` of a node is its label, `type` of an edge its type; properties keep their names.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import networkx as nx
import numpy as np

from graphwalk.config.graph_source import FileOptions, Undirected
from graphwalk.errors import ConfigError
from graphwalk.graphs.formats.build import TYPES, graph_of, usual_fields
from graphwalk.graphs.formats.common import Record, Table, by_name
from graphwalk.graphs.graph import PropertyGraph


def to_networkx(graph: PropertyGraph) -> "nx.MultiDiGraph[str]":
    """Return a MultiDiGraph whose nodes are the keys; `seed` and `spec` are attributes of the graph.

    One label is text under `label`, several or none a list under `labels`. Raise ConfigError for a property with such a
    name.
    """
    result = nx.MultiDiGraph(seed=graph.seed, spec=dict(graph.spec))
    for node in graph.nodes():
        _check_free(("label", "labels"), node.key, node.properties)
        attributes: dict[str, Any] = {}
        # ":First:Second" in `label` would be read as two labels.
        if len(node.labels) == 1 and not node.label.startswith(":"):
            attributes["label"] = node.label
        else:
            attributes["labels"] = list(node.labels)
        attributes.update(by_name(node.properties))
        # As dictionaries, for properties may be called as arguments of add_node and add_edge.
        result.add_nodes_from([(node.key, attributes)])
    for relationship in graph.relationships():
        source = relationship.source
        target = relationship.target
        _check_free(("type",), f"{source} to {target}", relationship.properties)
        attributes = {"type": relationship.type, **by_name(relationship.properties)}
        result.add_edges_from([(source, target, attributes)])
    return result


def _check_free(reserved: Sequence[str], where: str, properties: Mapping[str, Any]) -> None:
    for name in reserved:
        if name in properties:
            raise ConfigError(
                f"{where} has a property {name!r}, which networkx needs for labels and types",
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
    seed = graph.graph.get("seed")
    spec = graph.graph.get("spec")
    nodes = []
    for key, attributes in graph.nodes(data=True):
        nodes.append(Record(f"node {key!r}", _plain(attributes), fixed={"key": str(key)}))
    try:
        return graph_of(
            [Table("nodes", nodes, "Node")],
            [Table("edges", list(_edges(graph)), "RELATED")],
            FileOptions(undirected=undirected),
            seed=seed if isinstance(seed, int) else None,
            spec=spec if isinstance(spec, dict) else None,
        )
    except ValueError as error:
        raise ConfigError(f"cannot use the networkx graph: {error}") from error


def _edges(graph: "nx.Graph[Any]") -> Iterator[Record]:
    if graph.is_multigraph():
        edges = graph.edges(data=True, keys=True)
    else:
        edges = ((source, target, None, attributes) for source, target, attributes in graph.edges(data=True))
    for source, target, edge_key, attributes in edges:
        fields = _plain(attributes)
        # networkx numbers the edges between two nodes; a key that is text is a name.
        if isinstance(edge_key, str) and edge_key and not _has_type(fields):
            fields["type"] = edge_key
        where = f"relationship from {source!r} to {target!r}"
        fixed = {"source": str(source), "target": str(target)}
        yield Record(where, fields, fixed=fixed, directed=graph.is_directed())


def _has_type(fields: Mapping[str, Any]) -> bool:
    return any(fields[name] is not None for name in usual_fields(fields, TYPES))


def _plain(attributes: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(name): _plain_value(value) for name, value in attributes.items()}


def _plain_value(value: Any) -> Any:
    """Return a value without the types of numpy and pandas, None if it is missing."""
    if isinstance(value, np.ndarray | list | tuple):
        return [_plain_value(item) for item in value]
    # pandas.NaT and pandas.NA
    if type(value).__name__ in ("NaTType", "NAType"):
        return None
    if isinstance(value, np.generic):
        return value.item()
    return value
