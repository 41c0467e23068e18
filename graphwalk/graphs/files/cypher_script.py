r"""Graphs as Cypher scripts that run on Neo4j and on kglite, one statement per line, and are read back from that form.

// graphwalk {"schema_version":1,"seed":7,"spec":{…}}
CREATE INDEX IF NOT EXISTS FOR (n:`Zorep`) ON (n.`key`);
CREATE (:`Zorep` {`key`: 'k7q2', `ajowu`: 1.25, `fumek`: null});
MATCH (a:`Zorep` {`key`: 'k7q2'}), (b:`Mubo` {`key`: 'c1x9'}) CREATE (a)-[:`VEPAZ` {`oti`: 'zuvek'}]->(b);
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from graphwalk.errors import ConfigError
from graphwalk.graphs.files.shared import (
    by_name,
    checked_header,
    checked_node_properties,
    checked_properties,
    checked_text,
    header,
    reading,
    write_lines,
)
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from graphwalk.types.values import Value

_HEADER = "// graphwalk "
_NAME = r"`((?:[^`]|``)+)`"
_STRING = r"'((?:[^'\\]|\\.)*)'"
_INDEX = re.compile(rf"CREATE INDEX IF NOT EXISTS FOR \(n:{_NAME}\) ON \(n\.`key`\);")
_NODE = re.compile(rf"CREATE \(:{_NAME} \{{`key`: {_STRING}(?:, (.*))?\}}\);")
_RELATIONSHIP = re.compile(
    rf"MATCH \(a:{_NAME} \{{`key`: {_STRING}\}}\), \(b:{_NAME} \{{`key`: {_STRING}\}}\) "
    rf"CREATE \(a\)-\[:{_NAME}(?: \{{(.*)\}})?\]->\(b\);"
)
_ENTRY = re.compile(rf"{_NAME}: (?:{_STRING}|([^\s,'`{{}}]+))(?:, |$)")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_NOT_PRINTABLE = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "'": "'", "\\": "\\"}
_WORDS: dict[str, Value | None] = {"true": True, "false": False, "null": None}


def write_cypher(graph: PropertyGraph, path: Path) -> None:
    """The same bytes for the same graph; the file is there whole or not at all."""
    write_lines(path, _statements(graph))


def read_cypher(path: Path) -> PropertyGraph:
    """Read what `write_cypher` wrote. ConfigError that names file and line for anything else."""
    with reading(path), path.open(encoding="utf-8", newline="\n") as file:
        first = file.readline()
        if not first.startswith(_HEADER):
            raise ValueError(f"line 1: a graph script begins with {_HEADER!r}; other Cypher cannot be read")
        seed, spec = checked_header(json.loads(first.removeprefix(_HEADER)))
        nodes: list[Node] = []
        relationships: list[Relationship] = []
        for number, line in enumerate(file, start=2):
            _read_statement(f"line {number}", line.rstrip("\n"), nodes, relationships)
        return PropertyGraph.from_rows(nodes, relationships, seed=seed, spec=spec)


def quoted(name: str) -> str:
    """A label, type or property name in back-ticks. ConfigError for one with line breaks or control characters."""
    if _NOT_PRINTABLE.search(name):
        raise ConfigError(f"Cypher cannot hold the control characters in {name!r}", hint="save the graph as JSON")
    return "`" + name.replace("`", "``") + "`"


def literal(value: Value | None) -> str:
    """A value as Cypher writes it."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace("'", "\\'")
        return "'" + _NOT_PRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", escaped) + "'"
    return repr(value).replace("e+", "e")


def _statements(graph: PropertyGraph) -> Iterator[str]:
    yield _HEADER + json.dumps(header(graph), ensure_ascii=False, separators=(",", ":"))
    tables = sorted(graph.node_tables, key=lambda table: table.label)
    # kglite takes a label's property names from its first node, so that node must have all of them.
    empty: dict[str, dict[str, Value | None]] = {
        table.label: dict.fromkeys(name for name, column in table.columns.items() if column.canonical().pool)
        for table in tables
    }
    yield from (f"CREATE INDEX IF NOT EXISTS FOR (n:{quoted(label)}) ON (n.`key`);" for label in empty)
    label_of = {}
    for node in graph.nodes():
        label_of[node.key] = node.label
        entries: dict[str, Value | None] = {"key": node.key, **by_name({**empty[node.label], **node.properties})}
        yield f"CREATE (:{quoted(node.label)} {_map(entries)});"
    for r in graph.relationships():
        ends = (f"{name}:{quoted(label_of[k])} {_map({'key': k})}" for name, k in (("a", r.source), ("b", r.target)))
        properties = f" {_map(by_name(r.properties))}" if r.properties else ""
        yield f"MATCH ({next(ends)}), ({next(ends)}) CREATE (a)-[:{quoted(r.type)}{properties}]->(b);"


def _map(entries: Mapping[str, Value | None]) -> str:
    return "{" + ", ".join(f"{quoted(name)}: {literal(value)}" for name, value in entries.items()) + "}"


def _read_statement(where: str, line: str, nodes: list[Node], relationships: list[Relationship]) -> None:
    if match := _NODE.fullmatch(line):
        label, key, entries = match.groups()
        properties = checked_node_properties(where, _entries(where, entries))
        nodes.append(Node(checked_text(f"{where}, key", _unescaped(where, key)), (_unquoted(label),), properties))
    elif match := _RELATIONSHIP.fullmatch(line):
        _, source, _, target, type_, entries = match.groups()
        properties = checked_properties(where, _entries(where, entries))
        ends = _unescaped(where, source), _unescaped(where, target)
        relationships.append(Relationship(_unquoted(type_), *ends, properties))
    elif line and not _INDEX.fullmatch(line):
        raise ValueError(f"{where} is not a statement of a graph script: {line[:80]}")


def _entries(where: str, text: str | None) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    position = 0
    while text and position < len(text):
        match = _ENTRY.match(text, position)
        if match is None:
            raise ValueError(f"{where}: cannot read the properties from {text[position : position + 40]!r} on")
        name, string, word = match.groups()
        entries[_unquoted(name)] = _word(where, word) if string is None else _unescaped(where, string)
        position = match.end()
    return entries


def _word(where: str, word: str) -> Value | None:
    if word in _WORDS:
        return _WORDS[word]
    try:
        return int(word) if word.lstrip("-").isdigit() else float(word)
    except ValueError:
        raise ValueError(f"{where}: {word!r} is not a value") from None


def _unquoted(name: str) -> str:
    return name.replace("``", "`")


def _unescaped(where: str, text: str) -> str:
    def one(match: re.Match[str]) -> str:
        code = match[1]
        if len(code) == 5:
            return chr(int(code[1:], 16))
        if code not in _ESCAPED:
            raise ValueError(f"{where}: unknown escape \\{code}")
        return _ESCAPED[code]

    return _ESCAPE.sub(one, text)
