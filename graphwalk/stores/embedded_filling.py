"""A graph put into the embedded engine, and what comes out of it turned back."""

from collections.abc import Callable
from itertools import count
from typing import Any

import kglite

from graphwalk.errors import StoreError
from graphwalk.stores.batches import NodeBatch, node_batches, relationship_batches
from graphwalk.stores.cypher import NO_LABEL, quote
from graphwalk.stores.embedded_names import HIDDEN, NODE, EmbeddedDialect, names_of
from graphwalk.stores.encoding import Encoding, odd_values
from graphwalk.stores.schema_queries import has_several_labels
from graphwalk.stores.tagged import decoded
from graphwalk.types.graph import PropertyGraph
from graphwalk.types.values import Value

BATCH = 10_000
REFUSALS = (kglite.KgError, OverflowError, TypeError, ValueError)
"""What kglite raises when it refuses a query or a graph."""
ID_MARK = "\0"
"""First character of the ids that we give to nodes; it tells them from data, so that results can leave them out."""
_NODE_KEYS = {"id": 0, "labels": 0, "properties": 0}.keys()
_RELATIONSHIP_KEYS = {"id": 0, "start": 0, "end": 0, "type": 0, "properties": 0}.keys()
_ID_ONLY = frozenset({"id"})
_NODE_EXTRAS = frozenset({"id", "title", "type", "name", "label", "node_type"})


def filled_engine(graph: PropertyGraph) -> tuple[Any, EmbeddedDialect, Encoding]:
    """A read-only engine that holds the graph, how its names are written, and how its values are kept."""
    # Names are checked against the schema before they reach a query, so these warnings would only be noise on stderr.
    kglite.set_query_warning_policy("silent")
    engine = kglite.KnowledgeGraph()
    dialect = names_of(graph, has_several_labels(graph))
    encoding = Encoding(_native, dialect.renames or any(True for _ in odd_values(graph)))
    try:
        _create_nodes(engine, graph, dialect, encoding)
        _create_relationships(engine, graph, dialect, encoding)
    except REFUSALS as error:
        raise StoreError(f"the embedded engine refused the graph {graph.digest[:12]}: {error}") from error
    engine.read_only(True)
    return engine, dialect, encoding


class Results:
    """Turns what the engine returns into names and values of the graph, without the fields that the engine adds."""

    def __init__(self, dialect: EmbeddedDialect, encoding: Encoding, *, written: bool = False) -> None:
        """`written`: of queries of a model's own, which make maps whose names are stored under others, too."""
        self.name = dialect.name
        self._renames = dialect.renames or written
        self._written = written
        self.tags = encoding.tags
        """False where the engine holds all names and values as the graph has them."""

    def own(self, value: Any) -> Any:
        """A value of a row; lists become tuples where the graph has values that are kept as text."""
        kind = value.__class__
        if kind is dict or kind is list:
            value = self._plain(value)
        return decoded(value, self.name) if self.tags else value

    def _plain(self, value: Any) -> Any:
        if value.__class__ is list:
            hidden = HIDDEN if NODE in value else ()
            return [self._plain(item) for item in value if item.__class__ is not str or item not in hidden]
        if value.__class__ is not dict:
            return value
        if value.keys() == _NODE_KEYS:
            labels = value["labels"]
            own = [label for label in labels if label not in HIDDEN] if self._renames else labels
            return {"labels": own, "properties": self._own(value["properties"], _NODE_EXTRAS)}
        if value.keys() == _RELATIONSHIP_KEYS:
            return {"type": value["type"], "properties": self._own(value["properties"], frozenset())}
        mark = value.get("id")
        if mark.__class__ is str and mark.startswith(ID_MARK):
            found = self._own(value, _ID_ONLY)
            return {name: self._plain(item) for name, item in found.items()} if self._written else found
        if self._renames:
            # An `id` is the engine's own: one that a query makes is stored under another name.
            return {self.name(k): self._plain(v) for k, v in value.items() if k != "id"}
        return self._nested(value)

    def _nested(self, value: dict[str, Any]) -> dict[str, Any]:
        for item in value.values():
            if item.__class__ is dict or item.__class__ is list:
                return {k: self._plain(v) for k, v in value.items()}
        return value

    def _own(self, properties: dict[str, Any], extras: frozenset[str]) -> dict[str, Any]:
        """Properties under their own names. Reserved names are stored under others, so `extras` are never data."""
        if self._renames:
            return dict(sorted((self.name(k), v) for k, v in properties.items() if k not in extras))
        for name in extras:
            properties.pop(name, None)
        return properties


def _native(value: Value) -> Value | None:
    """kglite holds numbers and lists as they are. Times of its own know neither nanoseconds nor the names of zones."""
    if value.__class__ is tuple:
        return value
    return value if isinstance(value, float) and value == value else None


def _create_nodes(engine: Any, graph: PropertyGraph, dialect: EmbeddedDialect, encoding: Encoding) -> None:
    numbers = count()
    for batch in node_batches(graph, BATCH, dialect.stored_property, _encode(encoding)):
        for row in batch.rows:
            row["id"] = f"{ID_MARK}{next(numbers)}"
            if encoding.tags:
                row["key"] = encoding.stored(row["key"])
        labels = _labels(batch, dialect)
        engine.cypher(f"UNWIND $rows AS row CREATE (n:{labels}) SET n += row", params={"rows": batch.rows})
    tables = [table for table in graph.node_tables if len(table.numbers)]
    for first in [quote(NODE)] if dialect.several and tables else [dialect.label_name(t.label) for t in tables]:
        engine.cypher(f"CREATE INDEX FOR (n:{first}) ON (n.key)")


def _labels(batch: NodeBatch, dialect: EmbeddedDialect) -> str:
    own = ":".join(map(dialect.label_name, batch.labels)) or quote(NO_LABEL)
    return f"{quote(NODE)}:{own}" if dialect.several else own


def _create_relationships(engine: Any, graph: PropertyGraph, dialect: EmbeddedDialect, encoding: Encoding) -> None:
    by_pair = not dialect.several
    for batch in relationship_batches(graph, BATCH, dialect.stored_property, _encode(encoding), by_pair=by_pair):
        source, target = map(dialect.label_name, batch.pair) if batch.pair else (quote(NODE), quote(NODE))
        if encoding.tags:
            for row in batch.rows:
                row["s"], row["t"] = encoding.stored(row["s"]), encoding.stored(row["t"])
        engine.cypher(
            "UNWIND $rows AS row "
            f"MATCH (a:{source} {{key: row.s}}), (b:{target} {{key: row.t}}) "
            f"CREATE (a)-[r:{dialect.type(batch.type)}]->(b) SET r += row.p",
            params={"rows": batch.rows},
        )


def _encode(encoding: Encoding) -> Callable[[Value], Any] | None:
    return encoding.stored if encoding.tags else None
