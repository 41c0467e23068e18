"""Read and write Cypher scripts."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from graphwalk.errors import ConfigError
from graphwalk.graphs.formats.common import (
    apart_from_key,
    brief,
    by_name,
    checked_header,
    checked_labels,
    checked_properties,
    checked_text,
    header,
    open_text,
    reading,
    write_lines,
)
from graphwalk.graphs.formats.json import TEMPORAL_TAGS, from_json, parse_json
from graphwalk.types.graph import KEY, Node, PropertyGraph, Relationship
from graphwalk.types.temporals import TEMPORAL_FUNCTIONS
from graphwalk.types.values import Point, Temporal, Value, shown

_FUNCTION_OF = {kind: name for name, kind in TEMPORAL_FUNCTIONS.items()}
_NOT_PRINTABLE = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")


def quoted(name: str) -> str:
    """Return a label, type or property name in back-ticks. Raise ConfigError for control characters."""
    if _NOT_PRINTABLE.search(name):
        raise ConfigError(f"Cypher cannot hold the control characters in {name!r}", hint="save the graph as JSON")
    return "`" + name.replace("`", "``") + "`"


def literal(value: Value | None) -> str:
    """Return a value as a Cypher literal. Raise ConfigError for bytes, which Cypher cannot write."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace("'", "\\'")
        return "'" + _NOT_PRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", escaped) + "'"
    if isinstance(value, tuple | list):
        return "[" + ", ".join(literal(item) for item in value) + "]"
    if isinstance(value, Temporal):
        return f"{_FUNCTION_OF[value.kind]}('{value.text}')"
    if isinstance(value, Point):
        return value.text
    if isinstance(value, bytes):
        raise ConfigError("Cypher has no way to write bytes", hint="save the graph as JSON, GraphML or CSV")
    if isinstance(value, float) and not math.isfinite(value):
        return str(shown(value))
    return repr(value).replace("e+", "e")


HEADER = "// graphwalk "


def write_cypher(graph: PropertyGraph, path: Path) -> None:
    """Write a deterministic script, atomically. Raise ConfigError for a graph with bytes."""
    write_lines(path, _statements(graph))


def _statements(graph: PropertyGraph) -> Iterator[str]:
    yield HEADER + json.dumps(header(graph), ensure_ascii=False, separators=(",", ":"))
    tables = sorted(graph.node_tables, key=lambda table: table.labels)
    # kglite takes a label's property names from its first node, so that node must have all of them.
    empty: dict[tuple[str, ...], dict[str, Value | None]] = {
        table.labels: dict.fromkeys(name for name, column in table.columns.items() if column.canonical().pool)
        for table in tables
    }
    indexed = dict.fromkeys(label for table in tables for label in table.labels)
    yield from (f"CREATE INDEX IF NOT EXISTS FOR (n:{quoted(label)}) ON (n.`key`);" for label in indexed)
    labels_of = {}
    for node in graph.nodes():
        labels_of[node.key] = "".join(f":{quoted(label)}" for label in node.labels)
        entries: dict[str, Value | None] = {"key": node.key, **by_name({**empty[node.labels], **node.properties})}
        yield f"CREATE ({labels_of[node.key]}{' ' if node.labels else ''}{_map(entries)});"
    for r in graph.relationships():
        ends = (f"{name}{labels_of[k]} {_map({'key': k})}" for name, k in (("a", r.source), ("b", r.target)))
        properties = f" {_map(by_name(r.properties))}" if r.properties else ""
        yield f"MATCH ({next(ends)}), ({next(ends)}) CREATE (a)-[:{quoted(r.type)}{properties}]->(b);"


def _map(entries: Mapping[str, Value | None]) -> str:
    return "{" + ", ".join(f"{quoted(name)}: {literal(value)}" for name, value in entries.items()) + "}"


_NAME = r"`((?:[^`]|``)+)`"
_LABELS = r"((?::`(?:[^`]|``)+`)*)"
_STRING = r"'((?:[^'\\]|\\.)*)'"
_INDEX = re.compile(rf"CREATE INDEX IF NOT EXISTS FOR \(n:{_NAME}\) ON \(n\.`key`\);")
_NODE = re.compile(rf"CREATE \({_LABELS} ?(\{{.*\}})\);")
_RELATIONSHIP = re.compile(
    rf"MATCH \(a{_LABELS} \{{`key`: {_STRING}\}}\), \(b{_LABELS} \{{`key`: {_STRING}\}}\) "
    rf"CREATE \(a\)-\[:{_NAME}(?: (\{{.*\}}))?\]->\(b\);"
)
_LABEL = re.compile(rf":{_NAME}")
_NOT_JSON = re.compile(
    rf"(?P<temporal>[a-z]+)\({_STRING}\)|point\((?P<point>\{{[^{{}}]*\}})\)|{_NAME}|{_STRING}|(?P<float>NaN|-?Infinity)"
)
_TAGS = {tag[1:].lower(): tag for tag in TEMPORAL_TAGS}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "'": "'", "\\": "\\"}


def read_cypher(path: Path) -> PropertyGraph:
    """Return the graph of a script of `write_cypher`. Raise ConfigError with file and line for any other."""
    if not is_own_script(path):
        raise ConfigError(
            f"cannot read the graph {path}: it does not begin with {HEADER!r}, so only a Neo4j can run it",
            hint=f"graphwalk convert {path.name} {path.stem}.json   (runs it in a Neo4j of its own)",
        )
    with reading(path), open_text(path) as file:
        try:
            seed, spec = checked_header(parse_json(file.readline().removeprefix(HEADER)))
        except AttributeError:
            raise ValueError(f"line 1: an object follows {HEADER!r}") from None
        nodes: list[Node] = []
        relationships: list[Relationship] = []
        for number, line in enumerate(file, start=2):
            try:
                _read_statement(line.rstrip("\r\n"), nodes, relationships)
            except ValueError as error:
                raise ValueError(f"line {number}: {error}") from None
        return PropertyGraph.from_rows(nodes, relationships, seed=seed, spec=spec)


def is_own_script(path: Path) -> bool:
    """Return True for a script of `write_cypher`. Raise ConfigError if the file cannot be read."""
    with reading(path), open_text(path) as file:
        return file.read(len(HEADER)) == HEADER


def _read_statement(line: str, nodes: list[Node], relationships: list[Relationship]) -> None:
    if match := _NODE.fullmatch(line):
        labels, held = match[1], _map_of(match[2])
        key = checked_text("key", held.pop(KEY, None))
        properties = apart_from_key(checked_properties("the node", held), key)
        nodes.append(Node(key, checked_labels("the node", map(_unquote, _LABEL.findall(labels))), properties))
    elif match := _RELATIONSHIP.fullmatch(line):
        _, source, _, target, type_, entries = match.groups()
        properties = checked_properties("the relationship", _map_of(entries or "{}"))
        relationships.append(Relationship(_unquote(type_), _unescape(source), _unescape(target), properties))
    elif line and not _INDEX.fullmatch(line):
        raise ValueError(f"not a statement of a graph script: {line[:80]}")


def _map_of(text: str) -> dict[str, Any]:
    """Return the map of a Cypher literal, which becomes JSON first."""
    try:
        held: dict[str, Any] = parse_json(_NOT_JSON.sub(_as_json, text))
    except json.JSONDecodeError as error:
        raise ValueError(f"cannot read the properties {brief(text)}") from error
    return {name: from_json(value) for name, value in held.items()}


def _as_json(match: re.Match[str]) -> str:
    temporal, argument, point, name, string, special = match.groups()
    if temporal is not None:
        return json.dumps({_TAGS.get(temporal, temporal): _unescape(argument)})
    if point is not None:
        return '{"$point": ' + re.sub(r"(\w+):", r'"\1":', point) + "}"
    if name is not None:
        return json.dumps(_unquote(name))
    return json.dumps(_unescape(string)) if string is not None else json.dumps({"$float": special})


def _unescape(text: str) -> str:
    """Return the content of a Cypher string. Raise ValueError for an unknown escape."""

    def one(match: re.Match[str]) -> str:
        code = match[1]
        if len(code) == 5:
            return chr(int(code[1:], 16))
        if code not in _ESCAPED:
            raise ValueError(f"unknown escape \\{code}")
        return _ESCAPED[code]

    return _ESCAPE.sub(one, text)


def _unquote(name: str) -> str:
    return name.replace("``", "`")
