"""Write Cypher scripts, which a Neo4j can run."""

import math
import re
from collections.abc import Iterator, Mapping

from graphwalk.errors import ConfigError
from graphwalk.graphs.formats.common import TEMPORAL_NAMES, by_name
from graphwalk.types.graph import PropertyGraph
from graphwalk.types.values import Point, Temporal, Value, shown

_NOT_PRINTABLE = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")


def quoted(name: str) -> str:
    """Return a label, type or property name in back-ticks. Raise ConfigError for control characters."""
    if _NOT_PRINTABLE.search(name):
        raise ConfigError(f"Cypher cannot hold the control characters in {name!r}", hint="save the graph as JSON")
    return "`" + name.replace("`", "``") + "`"


def literal(value: Value) -> str:
    """Return a value as a Cypher literal. Raise ConfigError for bytes, which Cypher cannot write."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace("'", "\\'")
        return "'" + _NOT_PRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", escaped) + "'"
    if isinstance(value, tuple | list):
        return "[" + ", ".join(literal(item) for item in value) + "]"
    if isinstance(value, Temporal):
        return f"{TEMPORAL_NAMES[value.kind]}('{value.text}')"
    if isinstance(value, Point):
        return value.text
    if isinstance(value, bytes):
        raise ConfigError("Cypher has no way to write bytes", hint="save the graph as JSON, GraphML or CSV")
    if isinstance(value, float) and not math.isfinite(value):
        return str(shown(value))
    return repr(value).replace("e+", "e")


def cypher_lines(graph: PropertyGraph) -> Iterator[str]:
    """Yield the statements of a script. Raise ConfigError for a graph with bytes."""
    tables = sorted(graph.node_tables, key=lambda table: table.labels)
    # A unique property is the key of a node in a database that is read (`graphwalk.stores.neo4j.existing_names`).
    for label in dict.fromkeys(label for table in tables for label in table.labels):
        yield f"CREATE CONSTRAINT IF NOT EXISTS FOR (n:{quoted(label)}) REQUIRE n.`key` IS UNIQUE;"
    labels_of = {}
    for node in graph.nodes():
        labels_of[node.key] = "".join(f":{quoted(label)}" for label in node.labels)
        entries = {"key": node.key, **by_name(node.properties)}
        yield f"CREATE ({labels_of[node.key]}{' ' if node.labels else ''}{_map(entries)});"
    for r in graph.relationships():
        ends = (f"{name}{labels_of[k]} {_map({'key': k})}" for name, k in (("a", r.source), ("b", r.target)))
        properties = f" {_map(by_name(r.properties))}" if r.properties else ""
        yield f"MATCH ({next(ends)}), ({next(ends)}) CREATE (a)-[:{quoted(r.type)}{properties}]->(b);"


def _map(entries: Mapping[str, Value]) -> str:
    return "{" + ", ".join(f"{quoted(name)}: {literal(value)}" for name, value in entries.items()) + "}"
