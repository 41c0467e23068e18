"""Nodes and relationships as plain attributes, the way networkx and GraphML hold them; other people's names too."""

from collections.abc import Mapping
from typing import Any

from graphwalk.errors import ConfigError
from graphwalk.graphs.files.shared import (
    by_name,
    checked_node_properties,
    checked_properties,
    checked_text,
)
from graphwalk.types.graph import Node, Relationship

LABEL_NAMES = ("label", "labels")
"""Where the label of a node is looked for, first to last; ours is the first."""
TYPE_NAMES = ("type", "label", "relation")
DEFAULT_LABEL = "Node"
DEFAULT_TYPE = "RELATED"


def node_attributes(node: Node) -> dict[str, Any]:
    return {"label": node.label, **_free_of("label", node.key, by_name(node.properties))}


def relationship_attributes(relationship: Relationship) -> dict[str, Any]:
    where = f"{relationship.source} to {relationship.target}"
    return {"type": relationship.type, **_free_of("type", where, by_name(relationship.properties))}


def node_from_attributes(key: str, attributes: Mapping[str, Any], label: Any = None) -> Node:
    """A node of somebody's graph; an attribute `key` that only repeats its key is dropped. ValueError if unusable.

    `label` is None where it has to be found among the attributes.
    """
    where = f"node {key!r}"
    properties = dict(attributes)
    if label is None:
        label = _label(where, _take(properties, LABEL_NAMES) or DEFAULT_LABEL)
    if str(properties.get("key")) == key:
        del properties["key"]
    return Node(
        checked_text("the key of a node", key),
        (checked_text(f"{where}, label", label),),
        checked_node_properties(where, properties),
    )


def relationship_from_attributes(
    source: str, target: str, attributes: Mapping[str, Any], type_: Any = None, default: str = DEFAULT_TYPE
) -> Relationship:
    """A relationship of somebody's graph. ValueError if unusable.

    `type_` is None where it has to be found among the attributes; `default` is the type where it is not there either.
    """
    where = f"relationship from {source!r} to {target!r}"
    properties = dict(attributes)
    if type_ is None:
        type_ = _take(properties, TYPE_NAMES) or default
    return Relationship(checked_text(f"{where}, type", type_), source, target, checked_properties(where, properties))


def _label(where: str, found: Any) -> Any:
    """One label from the ways in which others write it; Neo4j's own exports have ":First:Second"."""
    labels = found[1:].split(":") if isinstance(found, str) and found.startswith(":") else found
    if not isinstance(labels, list):
        return labels
    if len(labels) != 1:
        raise ValueError(f"{where} has the labels {', '.join(map(str, labels))}, a node of a GraphWalk graph has one")
    return labels[0]


def _take(attributes: dict[str, Any], names: tuple[str, ...]) -> Any:
    """The first of these attributes that is there, which is then no property any more; None if there is none."""
    return next((attributes.pop(name) for name in names if attributes.get(name) is not None), None)


def _free_of(reserved: str, where: str, properties: dict[str, Any]) -> dict[str, Any]:
    if reserved in properties:
        raise ConfigError(
            f"{where} has a property {reserved!r}, which here is the name for something else",
            hint="save the graph as JSON or Cypher, or rename the property",
        )
    return properties
