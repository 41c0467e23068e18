"""Read and write GraphML."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from graphwalk.errors import ConfigError
from graphwalk.graphs.formats.common import (
    UNDIRECTED,
    Undirected,
    both_directions,
    brief,
    by_name,
    checked_header,
    header,
    joined_labels,
    labels_of,
    node_from_attributes,
    open_bytes,
    read_value,
    reading,
    relationship_from_attributes,
    type_name,
    value_text,
    write_lines,
)
from graphwalk.graphs.formats.json import from_json, parse_json
from graphwalk.types.graph import Column, Node, PropertyGraph, Relationship
from graphwalk.types.values import Value

_NOT_HELD = {
    "port": "ports (places of a node at which an edge ends)",
    "hyperedge": "hyperedges (edges between more than two nodes)",
}
_HEADER = ("schema_version", "seed", "spec")


def read_graphml(path: Path, undirected: Undirected = "refuse") -> PropertyGraph:
    """Return a graph of GraphWalk or of another tool.

    Raise ConfigError with the file and the node or relationship that cannot be used.
    """

    def refuse_declaration(*_: Any) -> None:
        # Entities and default attributes can expand to any size.
        raise ValueError("it declares entities or attributes of its own, which are not read")

    with reading(path), open_bytes(path) as file:
        reader = _Reader(undirected)
        parser = expat.ParserCreate(namespace_separator="}")
        parser.buffer_text = True
        parser.StartElementHandler = reader.start
        parser.EndElementHandler = reader.end
        parser.CharacterDataHandler = reader.text.append
        parser.EntityDeclHandler = parser.AttlistDeclHandler = refuse_declaration
        try:
            parser.ParseFile(file)
        except LookupError as error:
            if type(error) is LookupError:  # expat's own, for the encoding in the first line
                raise ValueError(str(error)) from error
            raise
        if reader.directed is None:
            raise ValueError("there is no <graph> element")
        seed, spec = checked_header(reader.head)
        return PropertyGraph.from_rows(reader.nodes, reader.relationships, seed=seed, spec=spec)


class _Key(NamedTuple):
    """The meaning of the data of one key id."""

    domain: str
    name: str
    type: str
    is_list: bool


@dataclass(slots=True)
class _Open:
    """An element that has begun: its attributes, and the data in it by key id."""

    tag: str
    attributes: Mapping[str, str]
    data: dict[str, str] = field(default_factory=dict)


class _Reader:
    """Handlers of a parser, and the content that they have read."""

    def __init__(self, undirected: Undirected) -> None:
        self.head: dict[str, Any] = {}
        self.nodes: list[Node] = []
        self.relationships: list[Relationship] = []
        self.directed: bool | None = None
        self.text: list[str] = []
        self._undirected = undirected
        self._keys: dict[str, _Key] = {}
        self._defaults: dict[str, str] = {}
        self._open: list[_Open] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition("}")[2]
        if tag == "graph":
            if self.directed is not None:
                raise ValueError("nested graphs and several graphs in one file cannot be read")
            self.directed = attributes.get("edgedefault", "directed") == "directed"
        elif tag in _NOT_HELD:
            raise ValueError(f"a property graph cannot hold {_NOT_HELD[tag]}")
        self.text.clear()
        self._open.append(_Open(tag, attributes))

    def end(self, name: str) -> None:
        element = self._open.pop()
        above = self._open[-1] if self._open else element
        text = "".join(self.text)
        self.text.clear()
        id_ = element.attributes.get("key", "")
        match element.tag, above.tag:
            case "data", "node" | "edge":
                if id_ in above.data:
                    raise ValueError(f"{above.tag} {brief(above.attributes.get('id', ''))} has the data {id_!r} twice")
                above.data[id_] = text
            case "data", "graph":
                if (name := self._key(id_).name) in _HEADER:
                    self.head[name] = parse_json(text)
            case "default", "key":
                above.data["default"] = text
            case "key", _:
                self._add_key(element)
            case "node", _:
                self._add_node(element)
            case "edge", _:
                self._add_edge(element)

    def _add_key(self, element: _Open) -> None:
        attributes = element.attributes
        id_ = attributes.get("id", "")
        if id_ in self._keys:
            raise ValueError(f"two <key> elements have the id {id_!r}")
        plain, listed = attributes.get("attr.type", "string"), attributes.get("attr.list")
        type_, is_list = (listed or plain.removesuffix("[]")), bool(listed) or plain.endswith("[]")
        type_ = attributes.get("graphwalk.type", type_)
        default = element.data.get("default")
        self._keys[id_] = _Key(attributes.get("for", "all"), attributes.get("attr.name", id_), type_, is_list)
        if default is not None:
            self._defaults[id_] = default

    def _add_node(self, element: _Open) -> None:
        labels, attributes = self._attributes(element, ("label", "labels"))
        if "labels" in labels:
            names: list[Any] | None = labels_of(labels["labels"]) if labels["labels"] else []
        else:
            names = [labels["label"]] if "label" in labels else None
        key = element.attributes.get("id", "")
        # Neo4j's exports write the labels of a node as an attribute of its element, too.
        if names is None and "labels" in element.attributes:
            names = labels_of(element.attributes["labels"])
            attributes.pop("labels", None)
        self.nodes.append(node_from_attributes(key, attributes, names))

    def _add_edge(self, element: _Open) -> None:
        special, attributes = self._attributes(element, ("type",))
        source, target = element.attributes.get("source", ""), element.attributes.get("target", "")
        type_ = special.get("type", element.attributes.get("label"))
        if "label" in element.attributes and attributes.get("label") == element.attributes["label"]:
            del attributes["label"]
        relationship = relationship_from_attributes(source, target, attributes, type_)
        own = element.attributes.get("directed")
        if self.directed if own is None else own == "true":
            self.relationships.append(relationship)
        elif self._undirected == "both":
            self.relationships += both_directions([relationship])
        else:
            raise ValueError(f"the edge from {source!r} to {target!r} is undirected; {UNDIRECTED}")

    def _attributes(self, element: _Open, structure: tuple[str, ...]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the data with names in `structure`, and all other data by name."""
        defaults = {id_: t for id_, t in self._defaults.items() if self._keys[id_].domain in (element.tag, "all")}
        special: dict[str, Any] = {}
        attributes: dict[str, Any] = {}
        for id_, text in {**defaults, **element.data}.items():
            key = self._key(id_)
            chosen = special if id_ in structure and key.name == id_ else attributes
            chosen[key.name] = _value(key, text)
        return special, attributes

    def _key(self, id_: str) -> _Key:
        if id_ not in self._keys:
            raise ValueError(f"no <key> element explains the data {id_!r}")
        return self._keys[id_]


def _value(key: _Key, text: str) -> Any:
    try:
        if key.is_list:
            items = parse_json(text)
            if not isinstance(items, list):
                raise ValueError(f"a list is written as a JSON list, not as {brief(text)}")
            return [read_value(key.type, item) if isinstance(item, str) else from_json(item) for item in items]
        return read_value(key.type, text)
    except KeyError:
        raise ValueError(f"attribute {key.name!r} has the unknown type {key.type!r}") from None
    except ValueError as error:
        raise ValueError(f"the value {brief(text)} of attribute {key.name!r} is no {key.type}: {error}") from None


_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_OF_GRAPHML = ("string", "long", "double", "boolean")
_SORT_NAMES = {"string": "str", "long": "int", "double": "float", "boolean": "bool"}
_NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_KeyIds = dict[tuple[str, str], str]
"""Property name and type → id of its key element."""


def write_graphml(graph: PropertyGraph, path: Path) -> None:
    """Write a deterministic file. Raise ConfigError for control characters, which XML cannot hold."""
    write_lines(path, graphml_lines(graph, header(graph)))


def graphml_lines(graph: PropertyGraph, head: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a GraphML document; the fields of `head` become JSON texts of the graph."""
    nodes = _key_ids("n", [table.columns for table in graph.node_tables])
    edges = _key_ids("r", [table.columns for table in graph.relationship_tables])
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<graphml xmlns="{_NAMESPACE}">'
    yield from (_key(name, "graph", name, "string") for name in head)
    yield _key("label", "node", "label", "string")
    if any(len(table.labels) != 1 for table in graph.node_tables):
        yield _key("labels", "node", "labels", "string")
    yield _key("type", "edge", "type", "string")
    for domain, ids in (("node", nodes), ("edge", edges)):
        yield from (_key(id_, domain, name, type_) for (name, type_), id_ in ids.items())
    yield '<graph edgedefault="directed">'
    yield from (_data(name, json.dumps(value, ensure_ascii=False)) for name, value in head.items())
    for node in graph.nodes():
        one = len(node.labels) == 1
        labels = _data("label", node.labels[0]) if one else _data("labels", joined_labels(node.labels))
        yield f"<node id={_attribute(node.key)}>{labels}{_properties(node.properties, nodes)}</node>"
    for r in graph.relationships():
        ends = f"source={_attribute(r.source)} target={_attribute(r.target)}"
        yield f"<edge {ends}>{_data('type', r.type)}{_properties(r.properties, edges)}</edge>"
    yield "</graph>"
    yield "</graphml>"


def _key_ids(prefix: str, tables: list[Mapping[str, Column]]) -> _KeyIds:
    used = {
        (name, type_name(value))
        for columns in tables
        for name, column in columns.items()
        for value in column.canonical().pool
    }
    ordered = sorted(used, key=lambda key: (key[0], _SORT_NAMES.get(key[1], key[1])))
    return {key: f"{prefix}{i}" for i, key in enumerate(ordered)}


def _key(id_: str, domain: str, name: str, type_: str) -> str:
    start = f'<key id="{id_}" for="{domain}" attr.name={_attribute(name)}'
    if type_ in _OF_GRAPHML:
        return f'{start} attr.type="{type_}"/>'
    if type_.endswith("[]"):
        return f'{start} attr.type="string" attr.list="{type_.removesuffix("[]")}"/>'
    return f'{start} attr.type="string" graphwalk.type="{type_}"/>'


def _properties(properties: Mapping[str, Value], ids: _KeyIds) -> str:
    parts = []
    for name, value in by_name(properties).items():
        texts = list(map(value_text, value)) if isinstance(value, tuple) else None
        text = value_text(value) if texts is None else json.dumps(texts, ensure_ascii=False)
        parts.append(_data(ids[name, type_name(value)], text))
    return "".join(parts)


def _data(id_: str, text: str) -> str:
    return f'<data key="{id_}">{escape(_valid(text), {chr(13): "&#13;"})}</data>'


def _attribute(text: str) -> str:
    return quoteattr(_valid(text))


def _valid(text: str) -> str:
    if _NOT_IN_XML.search(text):
        raise ConfigError(f"GraphML cannot hold the control characters in {text!r}", hint="save the graph as JSON")
    return text
