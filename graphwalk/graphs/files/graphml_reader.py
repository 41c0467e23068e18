"""GraphML read in one pass: what `graphml_writer` wrote, and what networkx, yEd or Neo4j write."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from gzip import GzipFile
from pathlib import Path
from typing import IO, Any
from xml.parsers import expat

from graphwalk.graphs.files.attributes import labels_of, node_from_attributes, relationship_from_attributes
from graphwalk.graphs.files.bounds import open_bytes
from graphwalk.graphs.files.checked import brief
from graphwalk.graphs.files.json_values import from_json, parse_json
from graphwalk.graphs.files.shared import checked_header, reading
from graphwalk.graphs.files.text_values import read_value
from graphwalk.graphs.files.undirected import UNDIRECTED, Undirected, both_directions
from graphwalk.types.graph import Node, PropertyGraph, Relationship

_NOT_HELD = {
    "port": "ports (places of a node at which an edge ends)",
    "hyperedge": "hyperedges (edges between more than two nodes)",
}
_LONGEST_TAG = 2**17
_DEEPEST = _MOST_ATTRIBUTES = _MOST_DEFAULTS = 100
"""The last: keys with a default, which every node or edge gets."""
_HEADER = ("schema_version", "seed", "spec")


def read_graphml(path: Path, undirected: Undirected = "refuse") -> PropertyGraph:
    """A graph, ours or somebody else's; see `attributes` for the names under which it is understood.

    ConfigError that names the file and the node or relationship that cannot be used.
    """
    with reading(path), open_bytes(path) as file:
        reader = _Reader(undirected)
        parser = expat.ParserCreate(namespace_separator="}")
        parser.buffer_text = True
        parser.StartElementHandler = reader.start
        parser.EndElementHandler = reader.end
        parser.CharacterDataHandler = reader.text
        parser.EntityDeclHandler = parser.AttlistDeclHandler = _refuse_declaration
        try:
            _parse(parser, file)
        except LookupError as error:
            if type(error) is LookupError:  # expat's own, for the encoding in the first line
                raise ValueError(str(error)) from error
            raise
        return reader.graph()


def _parse(parser: expat.XMLParserType, file: IO[bytes] | GzipFile) -> None:
    """Give a file to a parser block by block: it reads a tag that has not ended again with each of them."""
    read = 0
    while block := file.read(_LONGEST_TAG):
        parser.Parse(block)
        read += len(block)
        if read - parser.CurrentByteIndex > _LONGEST_TAG:
            raise ValueError(f"line {parser.CurrentLineNumber}: a tag or comment has more than {_LONGEST_TAG:,} bytes")
    parser.Parse(b"", True)


def _refuse_declaration(*_: Any) -> None:
    """A few entities, one made of another, grow to any size; so do attributes that every element has."""
    raise ValueError("it declares entities or attributes of its own, which are not read")


@dataclass(frozen=True, slots=True)
class _Key:
    """What the data of one key id mean."""

    domain: str
    name: str
    type: str
    is_list: bool
    default: str | None


@dataclass(slots=True)
class _Open:
    """An element that has begun: its attributes, and the data in it by key id."""

    tag: str
    attributes: Mapping[str, str]
    data: dict[str, str] = field(default_factory=dict)


class _Reader:
    def __init__(self, undirected: Undirected) -> None:
        self._undirected = undirected
        self._keys: dict[str, _Key] = {}
        self._with_default: dict[str, _Key] = {}
        self._head: dict[str, Any] = {}
        self._nodes: list[Node] = []
        self._relationships: list[Relationship] = []
        self._open: list[_Open] = []
        self._text: list[str] = []
        self._directed: bool | None = None

    def graph(self) -> PropertyGraph:
        """ValueError if there was none."""
        if self._directed is None:
            raise ValueError("there is no <graph> element")
        seed, spec = checked_header(self._head)
        return PropertyGraph.from_rows(self._nodes, self._relationships, seed=seed, spec=spec)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition("}")[2]
        if tag == "graph":
            self._start_graph(attributes)
        elif tag in _NOT_HELD:
            raise ValueError(f"a property graph cannot hold {_NOT_HELD[tag]}")
        if len(attributes) > _MOST_ATTRIBUTES:
            raise ValueError(f"<{tag[:20]}> has more than {_MOST_ATTRIBUTES} attributes")
        if len(self._open) >= _DEEPEST:
            raise ValueError(f"its elements are more than {_DEEPEST} deep")
        self._text.clear()
        self._open.append(_Open(tag, attributes))

    def text(self, text: str) -> None:
        self._text.append(text)

    def end(self, name: str) -> None:
        element = self._open.pop()
        above = self._open[-1] if self._open else element
        text = "".join(self._text)
        self._text.clear()
        if element.tag == "data":
            self._add_data(above, element.attributes.get("key", ""), text)
        elif element.tag == "default" and above.tag == "key":
            above.data["default"] = text
        elif element.tag == "key":
            self._add_key(element)
        elif element.tag == "node":
            self._add_node(element)
        elif element.tag == "edge":
            self._add_edge(element)

    def _start_graph(self, attributes: Mapping[str, str]) -> None:
        if self._directed is not None:
            raise ValueError("nested graphs and several graphs in one file cannot be read")
        self._directed = attributes.get("edgedefault", "directed") == "directed"

    def _add_data(self, above: _Open, id_: str, text: str) -> None:
        if above.tag in ("node", "edge"):
            if id_ in above.data:
                raise ValueError(f"{above.tag} {brief(above.attributes.get('id', ''))} has the data {id_!r} twice")
            above.data[id_] = text
        elif above.tag == "graph" and self._key(id_).name in _HEADER:
            self._head[self._key(id_).name] = parse_json(text)

    def _add_key(self, element: _Open) -> None:
        found = element.attributes
        id_ = found.get("id", "")
        if id_ in self._keys:
            raise ValueError(f"two <key> elements have the id {id_!r}")
        plain, listed = found.get("attr.type", "string"), found.get("attr.list")
        type_, is_list = (listed or plain.removesuffix("[]")), bool(listed) or plain.endswith("[]")
        type_ = found.get("graphwalk.type", type_)
        key = _Key(found.get("for", "all"), found.get("attr.name", id_), type_, is_list, element.data.get("default"))
        self._keys[id_] = key
        if key.default is not None:
            self._with_default[id_] = key
        if len(self._with_default) > _MOST_DEFAULTS:
            raise ValueError(f"more than {_MOST_DEFAULTS} <key> elements have a default")

    def _add_node(self, element: _Open) -> None:
        labels, attributes = self._attributes(element, ("label", "labels"))
        if "labels" in labels:
            found: list[Any] | None = labels_of(labels["labels"]) if labels["labels"] else []
        else:
            found = [labels["label"]] if "label" in labels else None
        key = element.attributes.get("id", "")
        # Neo4j's exports write the labels of a node as an attribute of its element, too.
        if found is None and "labels" in element.attributes:
            found = labels_of(element.attributes["labels"])
            attributes.pop("labels", None)
        self._nodes.append(node_from_attributes(key, attributes, found))

    def _add_edge(self, element: _Open) -> None:
        special, attributes = self._attributes(element, ("type",))
        source, target = element.attributes.get("source", ""), element.attributes.get("target", "")
        type_ = special.get("type", element.attributes.get("label"))
        if "label" in element.attributes and attributes.get("label") == element.attributes["label"]:
            del attributes["label"]
        made = relationship_from_attributes(source, target, attributes, type_)
        own = element.attributes.get("directed")
        if self._directed if own is None else own == "true":
            self._relationships.append(made)
        elif self._undirected == "both":
            self._relationships += both_directions([made])
        else:
            raise ValueError(f"the edge from {source!r} to {target!r} is undirected; {UNDIRECTED}")

    def _attributes(self, element: _Open, structure: tuple[str, ...]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The data of key ids in `structure` that have that name too, and all other data by name."""
        found: dict[str, str | None] = {
            id_: key.default for id_, key in self._with_default.items() if key.domain in (element.tag, "all")
        }
        found.update(element.data)
        special: dict[str, Any] = {}
        attributes: dict[str, Any] = {}
        for id_, text in found.items():
            key = self._key(id_)
            chosen = special if id_ in structure and key.name == id_ else attributes
            chosen[key.name] = _value(key, text or "")
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
            return [_item(key.type, item) for item in items]
        return read_value(key.type, text)
    except KeyError:
        raise ValueError(f"attribute {key.name!r} has the unknown type {key.type!r}") from None
    except ValueError as error:
        raise ValueError(f"the value {brief(text)} of attribute {key.name!r} is no {key.type}: {error}") from None


def _item(type_: str, item: Any) -> Any:
    """An item of a list: text that is read by its type, or what JSON has."""
    return read_value(type_, item) if isinstance(item, str) else from_json(item)
