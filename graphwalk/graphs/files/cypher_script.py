r"""Graphs as Cypher scripts that run on Neo4j, one statement per line; `cypher_script_reader` reads that form back.

// graphwalk {"schema_version":1,"seed":7,"spec":{…}}
CREATE INDEX IF NOT EXISTS FOR (n:`Zorep`) ON (n.`key`);
CREATE (:`Zorep` {`key`: 'k7q2', `ajowu`: 1.25, `fumek`: null});
MATCH (a:`Zorep` {`key`: 'k7q2'}), (b:`Mubo` {`key`: 'c1x9'}) CREATE (a)-[:`VEPAZ` {`oti`: 'zuvek'}]->(b);

The scripts of graphs whose nodes have one label each, with values that JSON has, run on kglite too.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from graphwalk.graphs.files.cypher_values import literal, quoted
from graphwalk.graphs.files.shared import by_name, header, write_lines
from graphwalk.types.graph import PropertyGraph
from graphwalk.types.values import Value

HEADER = "// graphwalk "


def write_cypher(graph: PropertyGraph, path: Path) -> None:
    """The same bytes for the same graph; the file is there whole or not at all. ConfigError for a graph with bytes."""
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
