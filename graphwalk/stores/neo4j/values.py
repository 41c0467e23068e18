"""What the Neo4j driver returns as values of a graph, the same as from every other store."""

from collections.abc import Set
from typing import Any

from neo4j.graph import Node, Path, Relationship

from graphwalk.errors import StoreError
from graphwalk.stores.cypher import NO_LABEL
from graphwalk.stores.neo4j.driver_values import from_driver

SCALARS = frozenset({str, int, float, bool, type(None)})


def plain(value: Any, scope: str | None) -> Any:
    """The value without the types of the driver; `scope` disappears from lists of labels.

    Node → {"labels", "properties"}, relationship → {"type", "properties"}, path → {"nodes", "relationships"}; maps
    sorted by name. (`Record.data()` would lose the properties of relationships.)
    """
    if value.__class__ in SCALARS:
        return value
    if isinstance(value, list):
        hidden = frozenset() if scope is None or scope not in value else _hidden(scope)
        return [plain(item, scope) for item in value if item.__class__ is not str or item not in hidden]
    if isinstance(value, dict):
        return {name: plain(value[name], scope) for name in sorted(value)}
    return _graph_value(value, scope)


def _graph_value(value: Any, scope: str | None) -> Any:
    if isinstance(value, Node):
        labels = sorted(value.labels - (frozenset() if scope is None else _hidden(scope)))
        return {"labels": labels, "properties": plain(dict(value.items()), scope)}
    if isinstance(value, Relationship):
        return {"type": value.type, "properties": plain(dict(value.items()), scope)}
    if isinstance(value, Path):
        return {
            "nodes": [_graph_value(node, scope) for node in value.nodes],
            "relationships": [_graph_value(relationship, scope) for relationship in value.relationships],
        }
    return from_driver(value)


def _hidden(scope: str) -> Set[str]:
    """Labels of our own."""
    return frozenset({scope, NO_LABEL})


def own(value: Any, scope: str) -> Any:
    """The value as it is. StoreError where a node in it is not in the graph: whatever led there must not be shown."""
    if isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            own(item, scope)
    elif isinstance(value, Path):
        own(list(value.nodes), scope)
    elif isinstance(value, Node) and scope not in value.labels:
        raise StoreError("a query found a node of another graph, and its result was thrown away")
    return value
