"""Our own Cypher scripts read back, without a database. Neo4j runs other Cypher: `graphwalk.database.scripts`."""

import re
from pathlib import Path
from typing import Any

from graphwalk.errors import ConfigError
from graphwalk.graphs.files.bounds import open_text
from graphwalk.graphs.files.checked import checked_labels, checked_properties, checked_text
from graphwalk.graphs.files.cypher_script import HEADER
from graphwalk.graphs.files.cypher_values import read_literal, unescaped
from graphwalk.graphs.files.json_values import parse_json
from graphwalk.graphs.files.shared import checked_header, reading
from graphwalk.graphs.keys import apart_from_key
from graphwalk.types.graph import Node, PropertyGraph, Relationship

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
_ENTRY = re.compile(rf"{_NAME}: ")


def read_cypher(path: Path) -> PropertyGraph:
    """Read what `write_cypher` wrote. ConfigError that names file and line for anything else."""
    if not is_own_script(path):
        raise ConfigError(
            f"cannot read the graph {path}: it does not begin with {HEADER!r}, so only a Neo4j can say what it makes",
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
    """True for a script that `write_cypher` wrote. ConfigError where the file cannot be read."""
    with reading(path), open_text(path) as file:
        return file.read(len(HEADER)) == HEADER


def _read_statement(line: str, nodes: list[Node], relationships: list[Relationship]) -> None:
    if match := _NODE.fullmatch(line):
        labels, key, entries = match.groups()
        key = checked_text("key", unescaped(key))
        properties = apart_from_key(checked_properties("the node", _entries(entries)), key)
        nodes.append(Node(key, checked_labels("the node", map(_unquoted, _LABEL.findall(labels))), properties))
    elif match := _RELATIONSHIP.fullmatch(line):
        _, source, _, target, type_, entries = match.groups()
        properties = checked_properties("the relationship", _entries(entries))
        relationships.append(Relationship(_unquoted(type_), unescaped(source), unescaped(target), properties))
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
        entries[name], position = read_literal(text, match.end())
        if position < len(text):
            if not text.startswith(", ", position):
                raise ValueError(f"cannot read the properties from {text[position : position + 40]!r} on")
            position += 2
    return entries


def _unquoted(name: str) -> str:
    return name.replace("``", "`")
