"""What the tool results of an episode have shown: nodes, relationships."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphwalk.scoring.values import parse_json
from graphwalk.toolbox.encodings import read_rows
from graphwalk.types.episode import ToolResult
from graphwalk.types.values import Row

KEY = "key"
_NAMING = ("name", "title", "label", "caption")
"""Properties that people call a node by, where it has one of them."""
_CONTENT = json.JSONEncoder(sort_keys=True).encode


@dataclass
class SeenNode:
    """A node as results have shown it; labels and properties that nobody asked for are missing."""

    key: str
    labels: tuple[str, ...] = ()
    properties: dict[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return self.labels[0] if self.labels else ""

    @property
    def name(self) -> str:
        """What a person would call it: a property with such a name, else the first text, else its key."""
        texts = {name: value for name, value in self.properties.items() if isinstance(value, str) and value.strip()}
        named = next((text for wanted in _NAMING for name, text in texts.items() if name.lower() == wanted), None)
        return named or next(iter(texts.values()), self.key)


@dataclass(frozen=True)
class SeenLink:
    """A relationship; `source` and `target` are keys."""

    type: str
    source: str
    target: str
    properties: Mapping[str, Any]


@dataclass
class Seen:
    """All that was shown, in the order in which it was."""

    nodes: dict[str, SeenNode] = field(default_factory=dict)
    links: dict[str, SeenLink] = field(default_factory=dict)
    """By their content: what two results show is one relationship, as are parallel ones that are alike."""

    def meet(self, labels: Any, properties: Any) -> str | None:
        """A node with its properties; its key, None where this is no node."""
        key = properties.get(KEY) if isinstance(properties, dict) else None
        if not isinstance(key, str | int) or isinstance(key, bool):
            return None
        node = self.nodes.setdefault(str(key), SeenNode(str(key)))
        named = [labels] if isinstance(labels, str) else labels if isinstance(labels, list) else []
        node.labels = node.labels if len(node.labels) > len(named) else tuple(map(str, named))
        node.properties |= {name: value for name, value in properties.items() if name != KEY and value is not None}
        return node.key

    def join(self, type_: str, source: str, target: str, properties: Any) -> None:
        own = dict(properties) if isinstance(properties, dict) else {}
        content = _CONTENT([type_, source, target, own])
        if content not in self.links:
            self.links[content] = SeenLink(type_, source, target, own)

    def take(self, result: ToolResult) -> None:
        """Add what one more result shows."""
        if result.error is None and result.rows:
            asked = parse_json(result.call.arguments)
            for row in read_rows(result.content) or ():
                _read(self, row, asked if isinstance(asked, dict) else {})


def seen_in(results: Iterable[ToolResult]) -> Seen:
    """What results show. Never raises: rows of an unknown form show nothing."""
    seen = Seen()
    for result in results:
        seen.take(result)
    return seen


def _read(seen: Seen, row: Row, asked: Mapping[str, Any]) -> None:
    if "neighbor_properties" in row:
        _read_neighbor(seen, row, asked)
    elif "properties" in row:
        seen.meet(_labels(row, "label"), row["properties"])
    elif row.keys() == {"values"} and asked.get("property_name") == KEY and asked.get("entity_type") == "node":
        seen.meet(asked.get("entity_name"), {KEY: row["values"]})


def _read_neighbor(seen: Seen, row: Row, asked: Mapping[str, Any]) -> None:
    """The centre is known by its key, and by the property that it was found with."""
    known = {KEY: row.get("center_key")}
    if isinstance(asked.get("property_name"), str) and asked["property_name"] != KEY:
        known[asked["property_name"]] = asked.get("property_value")
    centre = seen.meet(asked.get("label"), known)
    other = seen.meet(_labels(row, "neighbor_label"), row["neighbor_properties"])
    if centre is None or other is None or not isinstance(row.get("type"), str):
        return
    ends = {"outgoing": (centre, other), "incoming": (other, centre)}.get(str(row.get("direction")))
    if ends is not None:
        seen.join(row["type"], *ends, row.get("relationship_properties"))


def _labels(row: Row, name: str) -> Any:
    """All labels where a tool shows all of them, else the one."""
    return row.get(f"{name}s", row.get(name))
