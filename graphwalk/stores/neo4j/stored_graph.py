"""A graph in the form in which Neo4j keeps it, to be put there by somebody else: with our label, and tagged text."""

from collections.abc import Mapping
from dataclasses import replace

from graphwalk.stores.cypher import NO_LABEL
from graphwalk.stores.encoding import Encoding
from graphwalk.stores.neo4j.filling import kept_as
from graphwalk.types.graph import Column, PropertyGraph


def stored_graph(graph: PropertyGraph, scope: str) -> PropertyGraph:
    """What a load under the label `scope` would leave in the database; every value is one that Neo4j has a type for."""
    encoding = kept_as(graph, scope).encoding
    return replace(
        graph,
        keys=[str(encoding.kept(key)) for key in graph.keys] if encoding.tags else graph.keys,
        node_tables=tuple(
            replace(
                table,
                labels=tuple(sorted((*(table.labels or (NO_LABEL,)), scope))),
                columns=_stored(table.columns, encoding),
            )
            for table in graph.node_tables
        ),
        relationship_tables=tuple(
            replace(table, columns=_stored(table.columns, encoding)) for table in graph.relationship_tables
        ),
    )


def _stored(columns: Mapping[str, Column], encoding: Encoding) -> dict[str, Column]:
    return {name: replace(column, pool=tuple(map(encoding.kept, column.pool))) for name, column in columns.items()}
