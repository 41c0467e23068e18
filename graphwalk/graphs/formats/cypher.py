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
    by_name,
    checked_header,
    checked_labels,
    checked_properties,
    checked_text,
    header,
    open_text,
    read_point_text,
    reading,
    write_lines,
)
from graphwalk.graphs.formats.json import parse_json
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from graphwalk.types.temporals import TEMPORAL_FUNCTIONS, read_temporal
from graphwalk.types.values import SPECIAL_FLOATS, Point, Temporal, Value, shown

_FUNCTION_OF = {kind: name for name, kind in TEMPORAL_FUNCTIONS.items()}
_PLAIN_STRING = r"'(?:[^'\\]|\\.)*'"
_SINGLE = re.compile(
    rf"(?P<string>{_PLAIN_STRING})|(?P<function>[a-z]+)\((?P<argument>{_PLAIN_STRING}|\{{[^{{}}]*\}})\)|(?P<word>[^\s,'`{{}}()\[\]]+)"
)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_NOT_PRINTABLE = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "'": "'", "\\": "\\"}
_WORDS: dict[str, Value | None] = {"true": True, "false": False, "null": None, **SPECIAL_FLOATS}


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


def _read_literal(text: str, position: int) -> tuple[Value | None, int]:
    """Return the value at a position, and the position after it. Raise ValueError if there is none."""
    if not text.startswith("[", position):
        return _read_single(text, position)
    items: list[Value | None] = []
    position += 1
    while not text.startswith("]", position):
        item, position = _read_single(text, position)
        items.append(item)
        position += 2 if text.startswith(", ", position) else 0
    return tuple(items), position + 1


def _unescaped(text: str) -> str:
    """Return the content of a Cypher string. Raise ValueError for an unknown escape."""

    def one(match: re.Match[str]) -> str:
        code = match[1]
        if len(code) == 5:
            return chr(int(code[1:], 16))
        if code not in _ESCAPED:
            raise ValueError(f"unknown escape \\{code}")
        return _ESCAPED[code]

    return _ESCAPE.sub(one, text)


def _read_single(text: str, position: int) -> tuple[Value | None, int]:
    match = _SINGLE.match(text, position)
    if match is None:
        raise ValueError(f"cannot read the properties from {text[position : position + 40]!r} on")
    string, function, argument, word = match.group("string", "function", "argument", "word")
    if string is not None:
        value: Value | None = _unescaped(string[1:-1])
    elif function == "point":
        value = read_point_text(argument)
    elif function in TEMPORAL_FUNCTIONS and argument.startswith("'"):
        value = read_temporal(_unescaped(argument[1:-1]), TEMPORAL_FUNCTIONS[function])
    elif word in _WORDS:
        value = _WORDS[word]
    else:
        value = _number(word or match[0])
    return value, match.end()


def _number(word: str) -> int | float:
    try:
        number = int(word) if word.lstrip("-").isdecimal() and word.isascii() else float(word)
    except ValueError:
        number = math.inf
    if math.isinf(number) or "_" in word:
        raise ValueError(f"{word[:40]!r} is not a value")
    return number


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
        labels_of[node.key] = _labels(node.labels)
        entries: dict[str, Value | None] = {"key": node.key, **by_name({**empty[node.labels], **node.properties})}
        yield f"CREATE ({labels_of[node.key]}{' ' if node.labels else ''}{_map(entries)});"
    for r in graph.relationships():
        ends = (f"{name}{labels_of[k]} {_map({'key': k})}" for name, k in (("a", r.source), ("b", r.target)))
        properties = f" {_map(by_name(r.properties))}" if r.properties else ""
        yield f"MATCH ({next(ends)}), ({next(ends)}) CREATE (a)-[:{quoted(r.type)}{properties}]->(b);"


def _labels(labels: tuple[str, ...]) -> str:
    return "".join(f":{quoted(label)}" for label in labels)


def _map(entries: Mapping[str, Value | None]) -> str:
    return "{" + ", ".join(f"{quoted(name)}: {literal(value)}" for name, value in entries.items()) + "}"


_NAME = r"`((?:[^`]|``)+)`"
_LABELS = r"((?::`(?:[^`]|``)+`)*)"
_STRING = r"'((?:[^'\\]|\\.)*)'"
_ENTRIES = r"(?:, (.*))?"
_INDEX = re.compile(rf"CREATE INDEX IF NOT EXISTS FOR \(n:{_NAME}\) ON \(n\.`key`\);")
_NODE = re.compile(rf"CREATE \({_LABELS} ?\{{`key`: {_STRING}{_ENTRIES}\}}\);")
_RELATIONSHIP = re.compile(
    rf"MATCH \(a{_LABELS} \{{`key`: {_STRING}\}}\), \(b{_LABELS} \{{`key`: {_STRING}\}}\) "
    rf"CREATE \(a\)-\[:{_NAME}(?: \{{(.*)\}})?\]->\(b\);"
)
_LABEL = re.compile(rf":{_NAME}")
_ENTRY = re.compile(rf"(?:\A|, ){_NAME}: ")


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
        labels, key, entries = match.groups()
        key = checked_text("key", _unescaped(key))
        properties = apart_from_key(checked_properties("the node", _entries(entries)), key)
        nodes.append(Node(key, checked_labels("the node", map(_unquoted, _LABEL.findall(labels))), properties))
    elif match := _RELATIONSHIP.fullmatch(line):
        _, source, _, target, type_, entries = match.groups()
        properties = checked_properties("the relationship", _entries(entries))
        relationships.append(Relationship(_unquoted(type_), _unescaped(source), _unescaped(target), properties))
    elif line and not _INDEX.fullmatch(line):
        raise ValueError(f"not a statement of a graph script: {line[:80]}")


def _entries(text: str | None) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    position = 0
    while text and position < len(text):
        match = _ENTRY.match(text, position)
        if match is None:
            raise ValueError(f"cannot read the properties from {text[position : position + 40]!r} on")
        name = _unquoted(match[1])
        if name in entries:
            raise ValueError(f"the property {name!r} is there twice")
        entries[name], position = _read_literal(text, match.end())
    return entries


def _unquoted(name: str) -> str:
    return name.replace("``", "`")
