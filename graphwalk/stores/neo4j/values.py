"""Values of the Neo4j driver as plain JSON values, the same as from every other store."""

from typing import Any

from neo4j.graph import Node, Path, Relationship

from graphwalk.errors import StoreError

SCALARS = frozenset({str, int, float, bool, type(None)})


def plain(value: Any, scope: str | None) -> Any:
    """The value without the types of the driver; `scope` disappears from lists of labels.

    Node → {"labels", "properties"}, relationship → {"type", "properties"}, path → {"nodes", "relationships"}; maps
    sorted by name; points in time as ISO 8601 text. (`Record.data()` would lose the properties of relationships.)
    """
    if value.__class__ in SCALARS:
        return value
    if isinstance(value, list):
        return [plain(item, scope) for item in value if item != scope or scope is None]
    if isinstance(value, dict):
        return {name: plain(value[name], scope) for name in sorted(value)}
    return _graph_value(value, scope)


def _graph_value(value: Any, scope: str | None) -> Any:
    if isinstance(value, Node):
        return {"labels": sorted(value.labels - {scope}), "properties": plain(dict(value.items()), scope)}
    if isinstance(value, Relationship):
        return {"type": value.type, "properties": plain(dict(value.items()), scope)}
    if isinstance(value, Path):
        return {
            "nodes": [_graph_value(node, scope) for node in value.nodes],
            "relationships": [_graph_value(relationship, scope) for relationship in value.relationships],
        }
    return value.iso_format() if hasattr(value, "iso_format") else str(value)


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
