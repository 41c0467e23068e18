"""A graph in the embedded engine: how it is loaded, and the rows of its queries.

The engine holds the graph as models see it: values that JSON lacks are text (`graphwalk.graphs.values.shown`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

import kglite

from graphwalk.errors import ConfigError, StoreError
from graphwalk.graphs.graph import PropertyGraph
from graphwalk.graphs.values import Point, Row, Temporal, shown
from graphwalk.stores.cypher import NO_LABEL, Dialect, quote
from graphwalk.stores.cypher_check import Token, tokens_in
from graphwalk.stores.graph_schema import has_several_labels
from graphwalk.stores.names import SafeNames
from graphwalk.stores.transfer import node_batches, relationship_batches, stored_graph

NODE = "gw_node"
"""The first label of every node of a graph in which not every node has one label.

The engine keeps an index for the first label of a node alone; others it looks through.
"""
_HIDDEN = frozenset({NODE, NO_LABEL})
BATCH = 10_000
REFUSALS = (kglite.KgError, OverflowError, TypeError, ValueError)
"""Exceptions of kglite that mean that it refuses a query or a graph."""
_ID_MARK = "\0"
"""First character of the ids that we give to nodes, which results leave out."""
_NODE_KEYS = {"id": 0, "labels": 0, "properties": 0}.keys()
_RELATIONSHIP_KEYS = {"id": 0, "start": 0, "end": 0, "type": 0, "properties": 0}.keys()
_NOTHING = Token("sign", "", -1)


@dataclass(frozen=True, eq=False, kw_only=True)
class EmbeddedDialect(Dialect):
    """The Cypher of one graph; templates may name it as the graph did before its names were made safe."""

    names: SafeNames

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def label_name(self, name: str) -> str:
        return quote(self.names.labels.get(name, name) or NO_LABEL)

    def label(self, name: str) -> str:
        # The engine uses the index of the first label.
        return f"{quote(NODE)}:{self.label_name(name)}" if self.several else self.label_name(name)

    def type(self, name: str) -> str:
        return quote(self.names.types.get(name, name))

    def property(self, name: str) -> str:
        return quote(self.names.properties.get(name) or (f"{name}_" if name in self.names.reserved else name))

    def labels_of(self, variable: str) -> str:
        labels = f"labels({variable})"
        return f"[name IN {labels} WHERE NOT name IN ['{NODE}', '{NO_LABEL}']]" if self.several else labels

    def finished(self, cypher: str) -> str:
        """Return the query. Raise ConfigError for a reserved property name."""
        if name := self.reserved_name(tokens_in(cypher)):
            raise ConfigError(
                f"the embedded engine gives the property {name!r} a meaning of its own:\n{cypher}",
                hint=f"write {name}_, which the property is called here, or use --store neo4j",
            )
        return cypher

    def reserved_name(self, tokens: Iterable[Token]) -> str | None:
        """Return the first reserved property name in a query: of `p.type`, `p {.type}` or `{type: "Dr"}`."""
        padded = [_NOTHING, *tokens, _NOTHING]
        for before, token, after in zip(padded, padded[1:], padded[2:], strict=False):
            if token.kind in ("word", "quoted") and token.name in self.names.reserved:
                is_key = before.text in ("{", ",") and after.text == ":"
                if is_key or (before.text == "." and after.text != "("):
                    return token.name
        return None


def stored_parameters(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a query in the form in which the engine holds values."""
    return {name: _parameter(value) for name, value in values.items()}


def _parameter(value: Any) -> Any:
    if isinstance(value, list):
        return list(map(_parameter, value))
    if isinstance(value, dict):
        return stored_parameters(value)
    return shown(value) if isinstance(value, float | tuple | Temporal | Point | bytes) else value


def load_engine(graph: PropertyGraph) -> Any:
    """Load a graph with safe names into a read-only engine of its own."""
    # Names are checked against the schema before they reach a query, so these warnings would only be noise on stderr.
    kglite.set_query_warning_policy("silent")
    engine = kglite.KnowledgeGraph()
    stored, several = stored_graph(graph, shown), has_several_labels(graph)
    try:
        _create_nodes(engine, stored, several)
        _create_relationships(engine, stored, several)
    except REFUSALS as error:
        raise StoreError(f"the embedded engine refused the graph {graph.digest[:12]}: {error}") from error
    engine.read_only(True)
    return engine


def _create_nodes(engine: Any, graph: PropertyGraph, several: bool) -> None:
    numbers = count()
    for names, rows in node_batches(graph, BATCH):
        for row in rows:
            # Without a title of its own a node would have one for `name` too.
            row["id"] = f"{_ID_MARK}{next(numbers)}"
            row.setdefault("title", None)
        labels = ":".join(map(quote, (*([NODE] if several else []), *(names or (NO_LABEL,)))))
        engine.cypher(f"UNWIND $rows AS row CREATE (n:{labels}) SET n += row", params={"rows": rows})
    tables = [table for table in graph.node_tables if len(table.numbers)]
    for first in [NODE] if several and tables else [table.label for table in tables]:
        engine.cypher(f"CREATE INDEX FOR (n:{quote(first)}) ON (n.key)")


def _create_relationships(engine: Any, graph: PropertyGraph, several: bool) -> None:
    for type_, pair, rows in relationship_batches(graph, BATCH, by_pair=not several):
        source, target = map(quote, pair or (NODE, NODE))
        engine.cypher(
            "UNWIND $rows AS row "
            f"MATCH (a:{source} {{key: row.s}}), (b:{target} {{key: row.t}}) "
            f"CREATE (a)-[r:{quote(type_)}]->(b) SET r += row.p",
            params={"rows": rows},
        )


def plain_rows(rows: list[Row]) -> list[Row]:
    """Return the rows without what the engine adds to nodes and their properties; they are changed in place."""
    for row in rows:
        for name, value in row.items():
            if value.__class__ is dict or value.__class__ is list:
                row[name] = _plain(value)
    return rows


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(item) for item in value if not isinstance(item, str) or item not in _HIDDEN]
    if not isinstance(value, dict):
        return value
    if (id_ := value.get("id")).__class__ is str and id_.startswith(_ID_MARK):  # the properties of a node
        del value["id"]
        return value
    if value.keys() == _NODE_KEYS:
        properties = {
            name: held
            for name, held in value["properties"].items()
            if name not in ("id", "type") and (name != "title" or held is not None)
        }
        return {"labels": _plain(value["labels"]), "properties": properties}
    if value.keys() == _RELATIONSHIP_KEYS:
        return {"type": value["type"], "properties": value["properties"]}
    return {name: _plain(item) for name, item in value.items()}
