"""GraphML read in one pass: what `graphml` wrote, and what networkx, yEd or Neo4j write."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from graphwalk.graphs.files.attributes import node_from_attributes, relationship_from_attributes
from graphwalk.graphs.files.shared import checked_header, reading
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from graphwalk.types.values import Value

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def read_graphml(path: Path) -> PropertyGraph:
    """A directed graph, ours or somebody else's; see `attributes` for the names under which it is understood.

    ConfigError that names the file and the node or relationship that cannot be used.
    """
    with reading(path):
        return _Reader().read(path)


@dataclass(frozen=True, slots=True)
class _Key:
    """What the data of one key id mean."""

    domain: str
    name: str
    type: str
    default: str | None


class _Reader:
    def __init__(self) -> None:
        self._keys: dict[str, _Key] = {}
        self._with_default: dict[str, _Key] = {}
        self._head: dict[str, Any] = {}
        self._nodes: list[Node] = []
        self._relationships: list[Relationship] = []
        self._graph: ElementTree.Element | None = None

    def read(self, path: Path) -> PropertyGraph:
        """ValueError or ParseError if it is not a directed GraphML graph."""
        for event, element in ElementTree.iterparse(path, events=("start", "end")):
            tag = element.tag.rpartition("}")[2]
            if event == "end":
                self._end(tag, element)
            elif tag == "graph":
                self._start_graph(element)
        if self._graph is None:
            raise ValueError("there is no <graph> element")
        seed, spec = checked_header(self._head) if self._head else (None, {})
        return PropertyGraph.from_rows(self._nodes, self._relationships, seed=seed, spec=spec)

    def _start_graph(self, element: ElementTree.Element) -> None:
        if self._graph is not None:
            raise ValueError("nested graphs and several graphs in one file cannot be read")
        if element.get("edgedefault", "directed") != "directed":
            raise ValueError("the graph is undirected; turn it into a directed one first")
        self._graph = element

    def _end(self, tag: str, element: ElementTree.Element) -> None:
        if tag == "key":
            self._add_key(element)
        elif tag == "node":
            label, attributes = self._attributes(element, "node", "label")
            self._nodes.append(node_from_attributes(element.get("id", ""), attributes, label))
            self._forget_children()
        elif tag == "edge":
            type_, attributes = self._attributes(element, "edge", "type")
            source, target = element.get("source", ""), element.get("target", "")
            self._relationships.append(relationship_from_attributes(source, target, attributes, type_))
            self._forget_children()
        elif tag == "data" and self._key_of(element).domain == "graph":
            self._add_header(self._key_of(element).name, element.text or "")

    def _add_key(self, element: ElementTree.Element) -> None:
        default = element.find("{*}default")
        id_ = element.get("id", "")
        text = None if default is None else default.text or ""
        key = _Key(element.get("for", "all"), element.get("attr.name", id_), element.get("attr.type", "string"), text)
        self._keys[id_] = key
        if key.default is not None:
            self._with_default[id_] = key

    def _add_header(self, name: str, text: str) -> None:
        if name in ("schema_version", "seed", "spec"):
            self._head[name] = json.loads(text)

    def _forget_children(self) -> None:
        """What was read is let go, so that memory holds the graph once."""
        if self._graph is not None:
            self._graph.clear()

    def _attributes(
        self, element: ElementTree.Element, domain: str, structure: str
    ) -> tuple[Value | None, dict[str, Any]]:
        """The data of key id `structure`, None if there is none, and all other data by name."""
        found = {id_: key.default for id_, key in self._with_default.items() if key.domain in (domain, "all")}
        for data in element.findall("{*}data"):
            self._key_of(data)
            found[data.get("key", "")] = data.text or ""
        values = {id_: _value(self._keys[id_], text or "") for id_, text in found.items()}
        ours = structure in values and self._keys[structure].name == structure
        special = values.pop(structure) if ours else None
        return special, {self._keys[id_].name: value for id_, value in values.items()}

    def _key_of(self, data: ElementTree.Element) -> _Key:
        id_ = data.get("key", "")
        if id_ not in self._keys:
            raise ValueError(f"no <key> element explains the data {id_!r}")
        return self._keys[id_]


def _value(key: _Key, text: str) -> Value:
    try:
        match key.type:
            case "string":
                return text
            case "int" | "long":
                return int(text)
            case "float" | "double":
                return float(text)
            case "boolean":
                return _BOOLEANS[text.strip().lower()]
    except (ValueError, KeyError):
        raise ValueError(f"the value {text!r} of attribute {key.name!r} is no {key.type}") from None
    raise ValueError(f"attribute {key.name!r} has the unknown type {key.type!r}")
