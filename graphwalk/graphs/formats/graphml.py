"""Read and write GraphML."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Set
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element
from xml.sax.saxutils import escape, quoteattr

from graphwalk.config.graph_source import FileOptions
from graphwalk.errors import ConfigError
from graphwalk.graphs.formats.build import graph_of
from graphwalk.graphs.formats.common import (
    HEADER,
    Mistakes,
    Record,
    Table,
    by_name,
    checked_header,
    checked_text,
    joined_labels,
    note,
    reading,
)
from graphwalk.graphs.formats.json import parse_json
from graphwalk.graphs.graph import PropertyColumn, PropertyGraph
from graphwalk.graphs.values import Value, brief, read_value, type_name, value_text

_DRAWINGS = {"nodegraphics": "name", "edgegraphics": "label"}
"""Types of yEd's keys → fields for the texts that it draws."""
_DIRECTED = {"true": True, "1": True, "false": False, "0": False}


def read_graphml(path: Path, options: FileOptions) -> PropertyGraph:
    """Return a graph of GraphWalk or of another tool.

    Raise ConfigError with the file and the node or relationship that cannot be used.
    """
    with reading(path):
        root = ElementTree.fromstring(path.read_bytes())
        for element in root.iter():  # without namespaces, which some tools leave out
            element.tag = element.tag.rpartition("}")[2]
        graphs = root.findall("graph")
        if len(graphs) != 1:
            raise ValueError(f"expected one <graph> element, not {len(graphs)}")
        (graph,) = graphs
        _check_children("the graph", graph, {"data", "node", "edge"})
        keys = _keys(root)
        head = {key.name: text for key, text in _texts("the graph", keys, graph) if text.strip()}
        origin = checked_header({name: parse_json(head.pop(name)) for name in HEADER if name in head})
        if head:
            note(f"{path.name}: data of the graph as a whole is left out: {', '.join(sorted(head))}")
        if any(key.is_drawing for key in keys.values()):
            read = "its labels are the names of nodes and the types of edges, its shapes and places are left out"
            note(f"{path.name} is a drawing: {read}")

        mistakes = Mistakes(skip=options.skip_bad)
        nodes = []
        for element in graph.iterfind("node"):
            with mistakes:
                nodes.append(_node(keys, element, is_ours=bool(origin)))
        edges = []
        for element in graph.iterfind("edge"):
            with mistakes:
                edges.append(_edge(keys, graph, element, is_ours=bool(origin)))
        return graph_of(
            [Table(path.name, nodes, "Node")],
            [Table(path.name, edges, "RELATED")],
            options,
            None if origin else path.name,
            mistakes=mistakes,
            **origin,
        )


class _Key(NamedTuple):
    """The meaning of the data of one key id; `default` is the text where the data is missing."""

    id: str
    domain: str
    name: str
    type: str = "string"
    is_list: bool = False
    default: str | None = None
    is_drawing: bool = False
    """True for what yEd draws, among it the labels that it shows."""


def _keys(root: Element) -> dict[str, _Key]:
    # Older releases of APOC do not declare labels.
    keys = {"labels": _Key("labels", "node", "labels"), "label": _Key("label", "edge", "label")}
    for element in root.iterfind("key"):
        # <key id="n0" for="node" attr.name="tags" attr.type="string" attr.list="long"/>
        id_ = element.get("id", "")
        items = element.get("attr.list")
        # <key id="d6" for="node" yfiles.type="nodegraphics"/>
        drawing = _DRAWINGS.get(element.get("yfiles.type", ""))
        keys[id_] = _Key(
            id_,
            domain=element.get("for", "all"),
            name=drawing or element.get("attr.name") or id_,
            type=element.get("graphwalk.type") or items or element.get("attr.type") or "string",
            is_list=items is not None,
            default=element.findtext("default"),
            is_drawing=drawing is not None,
        )
    return keys


def _node(keys: Mapping[str, _Key], element: Element, *, is_ours: bool) -> Record:
    where = f"the node {element.get('id')!r}"
    fixed: dict[str, Any] = {"key": checked_text(where, "key", element.get("id"))}
    fields, structure = _fields(where, keys, element, ("label", "labels") if is_ours else ())
    # <node id="n0" labels=":Person:Captain"> of Neo4j's exports
    if "labels" in element.attrib:
        fields["labels"] = element.attrib["labels"]
    if is_ours and "label" in structure:
        fixed["label"] = [structure["label"]]
    elif is_ours:
        fixed["label"] = structure.get("labels", ())
    return Record(where, fields, fixed=fixed)


def _edge(keys: Mapping[str, _Key], graph: Element, element: Element, *, is_ours: bool) -> Record:
    where = f"the edge from {element.get('source')!r} to {element.get('target')!r}"
    source = checked_text(where, "source", element.get("source"))
    target = checked_text(where, "target", element.get("target"))
    fields, structure = _fields(where, keys, element, ("type",) if is_ours else ())
    type_ = structure.get("type", element.get("label"))
    if "label" in element.attrib and fields.get("label") == type_:  # Neo4j's exports have it among the data too
        del fields["label"]
    default = "false" if graph.get("edgedefault") == "undirected" else "true"
    direction = element.get("directed", default)
    if direction not in _DIRECTED:
        raise ValueError(f"{where}: directed={direction!r} is neither true nor false")
    fixed = {"source": source, "target": target}
    if type_ is not None:
        fixed["type"] = type_
    return Record(where, fields, fixed=fixed, directed=_DIRECTED[direction])


def _check_children(where: str, element: Element, tags: Set[str]) -> None:
    unknown = {child.tag for child in element} - tags
    if unknown:
        raise ValueError(f"{where} has the unknown element <{min(unknown)}>, which a property graph cannot hold")


def _texts(where: str, keys: Mapping[str, _Key], element: Element) -> Iterator[tuple[_Key, str]]:
    """Yield the texts of an element's data: of a drawing its labels, one a line."""
    for data in element.iterfind("data"):
        id_ = data.get("key", "")
        text = data.text or ""
        if id_ not in keys:
            raise ValueError(f"no <key> element explains the data {id_!r} of {where}")
        if keys[id_].is_drawing:
            # <data key="d6"><ShapeNode><Geometry …/><NodeLabel>Ida</NodeLabel></ShapeNode></data>
            labels = []
            for part in data.iter():
                label = (part.text or "").strip()
                if part.tag in ("NodeLabel", "EdgeLabel") and label:
                    labels.append(label)
            text = "\n".join(labels)
        elif len(data):
            raise ValueError(
                f"the data {id_!r} of {where} has the element <{data[0].tag}>; "
                "only text and the labels of yEd can be read"
            )
        yield keys[id_], text


def _fields(
    where: str, keys: Mapping[str, _Key], element: Element, structure_ids: Collection[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the fields of a node or an edge by name, and those of `structure_ids`, which a property may be called too.

    Raise ValueError for two values of one name.
    """
    _check_children(where, element, {"data"})
    fields: dict[str, Any] = {}
    structure: dict[str, Any] = {}
    texts = list(_texts(where, keys, element))
    ids = {key.id for key, _ in texts}
    for key in keys.values():
        if key.default is not None and key.domain in (element.tag, "all") and key.id not in ids:
            texts.append((key, key.default))
    for key, text in texts:
        if key.is_drawing and not text:
            continue
        value = _value(key, text)
        values = structure if key.id in structure_ids else fields
        if key.name in values and values[key.name] != value:
            raise ValueError(
                f"{where} has two values of {key.name!r}, {brief(values[key.name])} and {brief(value)}: give one of "
                f"the <key> elements that have this name (one is {key.id!r}) another attr.name"
            )
        values[key.name] = value
    return fields, structure


def _value(key: _Key, text: str) -> Any:
    try:
        if not key.is_list:
            return read_value(key.type, text)
        # ["2001-04-25","2001-04-26"] of ours; Neo4j's exports have numbers in lists as numbers
        items = parse_json(text)
        if not isinstance(items, list):
            raise ValueError(f"a list is written as a JSON list, not as {brief(text)}")
        return [read_value(key.type, item) if isinstance(item, str) else item for item in items]
    except ValueError as error:
        raise ValueError(f"the value {brief(text)} of attribute {key.name!r} is no {key.type}: {error}") from None


_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_OF_GRAPHML = ("string", "long", "double", "boolean")
_NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_KeyIds = dict[tuple[str, str], str]
"""Property name and type → id of its key element."""


def graphml_lines(graph: PropertyGraph, head: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a GraphML document; the fields of `head` become JSON texts of the graph.

    Raise ConfigError for control characters, which XML cannot hold.
    """
    nodes = _key_ids("n", [table.columns for table in graph.node_tables])
    edges = _key_ids("r", [table.columns for table in graph.relationship_tables])
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<graphml xmlns="{_NAMESPACE}">'
    for name in head:
        yield _key(name, "graph", name, "string")
    yield _key("label", "node", "label", "string")
    if any(len(table.labels) != 1 for table in graph.node_tables):
        yield _key("labels", "node", "labels", "string")
    yield _key("type", "edge", "type", "string")
    for domain, ids in (("node", nodes), ("edge", edges)):
        for (name, type_), id_ in ids.items():
            yield _key(id_, domain, name, type_)

    yield '<graph edgedefault="directed">'
    for name, value in head.items():
        yield _data(name, json.dumps(value, ensure_ascii=False))
    for node in graph.nodes():
        if len(node.labels) == 1:
            labels = _data("label", node.labels[0])
        else:
            labels = _data("labels", joined_labels(node.labels))
        yield f"<node id={_attribute(node.key)}>{labels}{_properties(node.properties, nodes)}</node>"
    for edge in graph.relationships():
        ends = f"source={_attribute(edge.source)} target={_attribute(edge.target)}"
        yield f"<edge {ends}>{_data('type', edge.type)}{_properties(edge.properties, edges)}</edge>"
    yield "</graph>"
    yield "</graphml>"


def _key_ids(prefix: str, tables: list[Mapping[str, PropertyColumn]]) -> _KeyIds:
    """Return {("born", "long"): "n0", ("name", "string"): "n1"} for the prefix "n"."""
    used: set[tuple[str, str]] = set()
    for columns in tables:
        for name, column in columns.items():
            used.update((name, type_name(value)) for value in column.values())
    return {name_and_type: f"{prefix}{place}" for place, name_and_type in enumerate(sorted(used))}


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
        if isinstance(value, tuple):
            text = json.dumps([value_text(item) for item in value], ensure_ascii=False)
        else:
            text = value_text(value)
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
