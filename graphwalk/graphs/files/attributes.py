"""Nodes and relationships as plain attributes, the way networkx and GraphML hold them; other people's names too."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from graphwalk.errors import ConfigError
from graphwalk.graphs.files.checked import checked_labels, checked_properties, checked_text
from graphwalk.graphs.files.shared import by_name
from graphwalk.graphs.keys import apart_from_key
from graphwalk.types.graph import Node, Relationship

LABEL_NAMES = ("label", "labels")
"""Where the labels of a node are looked for, first to last; ours is the first."""
TYPE_NAMES = ("type", "label", "relation")
DEFAULT_LABEL = "Node"
DEFAULT_TYPE = "RELATED"

_LABEL = re.compile(r":((?:[^:\\]|\\.?)*)", re.DOTALL)
_ESCAPED = re.compile(r"\\([:\\])")


def node_attributes(node: Node) -> dict[str, Any]:
    """One label is text under `label`; several, or none, are a list under `labels`."""
    one = len(node.labels) == 1 and not node.label.startswith(":")
    for reserved in LABEL_NAMES if not one else ("label",):
        _must_be_free(reserved, node.key, node.properties)
    labels = {"label": node.labels[0]} if one else {"labels": list(node.labels)}
    return {**labels, **by_name(node.properties)}


def relationship_attributes(relationship: Relationship) -> dict[str, Any]:
    _must_be_free("type", f"{relationship.source} to {relationship.target}", relationship.properties)
    return {"type": relationship.type, **by_name(relationship.properties)}


def node_from_attributes(key: str, attributes: Mapping[str, Any], labels: Any = None) -> Node:
    """A node of somebody's graph; an attribute `key` that is not what it is called goes on as `key_`.

    `labels` is None where they have to be found among the attributes; a node that has none there is a "Node". A
    ValueError if it cannot be used.
    """
    where = f"node {key!r}"
    properties = dict(attributes)
    if labels is None:
        labels = _take(properties, LABEL_NAMES)
    found = [DEFAULT_LABEL] if labels is None else labels_of(labels)
    return Node(
        checked_text("the key of a node", key),
        checked_labels(where, found),
        apart_from_key(checked_properties(where, properties), key),
    )


def relationship_from_attributes(
    source: str, target: str, attributes: Mapping[str, Any], type_: Any = None, name: Any = None
) -> Relationship:
    """A relationship of somebody's graph. ValueError if unusable.

    `type_` is None where it has to be found among the attributes; where it is not there either, it is `name` if that is
    text, else RELATED.
    """
    where = f"relationship from {source!r} to {target!r}"
    properties = dict(attributes)
    if type_ is None:
        type_ = _take(properties, TYPE_NAMES) or (name if isinstance(name, str) and name else DEFAULT_TYPE)
    return Relationship(checked_text(f"{where}, type", type_), source, target, checked_properties(where, properties))


def labels_of(found: Any) -> list[Any]:
    """Labels from the ways in which others write them; Neo4j's own exports have ":First:Second"."""
    if isinstance(found, str) and found.startswith(":"):
        return [_ESCAPED.sub(r"\1", label) for label in _LABEL.findall(found)]
    return list(found) if isinstance(found, list | tuple | set | frozenset) else [found]


def joined_labels(labels: Sequence[str]) -> str:
    r"""`:First:Second`, which `labels_of` takes apart; a colon in a label becomes `\:`."""
    return "".join(":" + label.replace("\\", "\\\\").replace(":", "\\:") for label in labels)


def _take(attributes: dict[str, Any], names: tuple[str, ...]) -> Any:
    """The first of these attributes that is there, which is then no property any more; None if there is none."""
    return next((attributes.pop(name) for name in names if attributes.get(name) is not None), None)


def _must_be_free(reserved: str, where: str, properties: Mapping[str, Any]) -> None:
    if reserved in properties:
        raise ConfigError(
            f"{where} has a property {reserved!r}, which here is the name for something else",
            hint="save the graph as JSON or Cypher, or rename the property",
        )
