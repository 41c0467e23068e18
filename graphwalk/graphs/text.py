"""A whole graph as text for a prompt: all nodes, relationships and properties, but not how it was made.

json        {"nodes":[{"key":…,"label":…,"properties":{…}}…],"relationships":[{"type":…,"source":…,"target":…,…}…]}
incidence   k7q2:Zorep {ajowu: 1.25}   and below it, indented, what leaves it:   -[:VEPAZ {oti: 'zuvek'}]-> c1x9:Mubo
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from graphwalk.errors import ConfigError
from graphwalk.graphs.formats.common import by_name
from graphwalk.graphs.formats.json import json_lines
from graphwalk.graphs.graph import PropertyGraph, Relationship
from graphwalk.graphs.values import Value, shown

GraphEncoding = Literal["json", "incidence"]

_PLAIN_KEY = re.compile(r"[\w.-]+")
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NOT_PRINTABLE = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")


def graph_text(graph: PropertyGraph, encoding: GraphEncoding) -> str:
    """Return the graph in one of the encodings; in both, relationships point from source to target."""
    lines = json_lines(graph, {}) if encoding == "json" else _incidence(graph)
    return "\n".join(lines)


def _incidence(graph: PropertyGraph) -> Iterator[str]:
    leaving: defaultdict[str, list[Relationship]] = defaultdict(list)
    for relationship in graph.relationships():
        leaving[relationship.source].append(relationship)
    labels_of = {node.key: _labels(node.labels) for node in graph.nodes()}
    for node in graph.nodes():
        yield f"{_key(node.key)}{labels_of[node.key]}{_map(by_name(node.properties))}"
        for relationship in leaving[node.key]:
            target = f"{_key(relationship.target)}{labels_of[relationship.target]}"
            yield f"  -[:{_name(relationship.type)}{_map(by_name(relationship.properties))}]-> {target}"


def _map(properties: Mapping[str, Value]) -> str:
    """Return " {name: value, …}", or nothing without properties."""
    if not properties:
        return ""
    entries = ", ".join(f"{_name(name)}: {literal(shown(value))}" for name, value in properties.items())
    return f" {{{entries}}}"


def _labels(labels: Sequence[str]) -> str:
    return "".join(f":{_name(label)}" for label in labels)


def _key(key: str) -> str:
    """Return the key of a node; numbers need no back-ticks."""
    if _PLAIN_KEY.fullmatch(key):
        return key
    return quoted(key)


def _name(name: str) -> str:
    """Return a name, in back-ticks only if Cypher needs them: they cost tokens on every line."""
    if _PLAIN_NAME.fullmatch(name):
        return name
    return quoted(name)


def quoted(name: str) -> str:
    """Return a label, type or property name in back-ticks. Raise ConfigError for control characters."""
    if _NOT_PRINTABLE.search(name):
        raise ConfigError(f"{name!r} has control characters", hint="rename it, or write graphs as JSON")
    return "`" + name.replace("`", "``") + "`"


def literal(value: Any) -> str:
    """Return a value in its JSON form as a Cypher literal."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace("'", "\\'")
        # A line feed is \u000a.
        return "'" + _NOT_PRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", escaped) + "'"
    if isinstance(value, list):
        return "[" + ", ".join(literal(item) for item in value) + "]"
    # Python writes 1e+20, Cypher 1e20.
    return repr(value).replace("e+", "e")
