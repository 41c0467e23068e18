"""A graph as the embedded engine holds it: its names, its values, and how they are read back.

The patterns of the engine know few characters, and some property names have a meaning of their own.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

import kglite

from graphwalk.errors import ConfigError, StoreError
from graphwalk.stores.cypher import NO_LABEL, RESERVED_PREFIX, Dialect, quote
from graphwalk.stores.cypher_check import QueryRefused, Token, tokens_in
from graphwalk.stores.graph_schema import has_several_labels
from graphwalk.stores.serialisation import ESCAPED, Serialisation, decoded
from graphwalk.stores.transfer import node_batches, relationship_batches, stored_graph
from graphwalk.types.graph import OUR_PREFIX, PropertyGraph
from graphwalk.types.temporals import TEMPORAL_FUNCTIONS, read_temporal
from graphwalk.types.values import Temporal, Value

RESERVED = frozenset({"id", "title", "type", "name", "label", "node_type", "created_at", "updated_at"})
"""Property names that have a meaning of their own in kglite."""
_KEPT = {RESERVED_PREFIX + name: name for name in RESERVED}
"""Stored name → reserved name."""
NODE = "gw_node"
"""The first label of every node of a graph in which not every node has one label.

The engine keeps an index for the first label of a node alone; others it looks through.
"""
HIDDEN = frozenset({NODE, NO_LABEL})
_OURS = f"IN ['{NODE}', '{NO_LABEL}']"
_PLAIN = re.compile(r"[A-Za-z_`][A-Za-z0-9_ .`()/-]*")
"""All characters were tried; others are refused in patterns, in back-ticks too."""
_STORED = re.compile(rf"\b{RESERVED_PREFIX}\w+")
BATCH = 10_000
REFUSALS = (kglite.KgError, OverflowError, TypeError, ValueError)
"""Exceptions of kglite that mean that it refuses a query or a graph."""
ID_MARK = "\0"
"""First character of the ids that we give to nodes, which results leave out."""
_NODE_KEYS = {"id": 0, "labels": 0, "properties": 0}.keys()
_RELATIONSHIP_KEYS = {"id": 0, "start": 0, "end": 0, "type": 0, "properties": 0}.keys()
_NODE_EXTRAS = frozenset({"id", "title", "type", "name", "label", "node_type"})


@dataclass(frozen=True, eq=False, kw_only=True)
class EmbeddedDialect(Dialect):
    """Names of one graph: labels, types and properties that are kept under others, and the way back."""

    labels: Mapping[str, str]
    types: Mapping[str, str]
    properties: Mapping[str, str]
    true_names: Mapping[str, str]

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def label_name(self, name: str) -> str:
        return quote(self.labels.get(name, name) or NO_LABEL)

    def label(self, name: str) -> str:
        # The engine uses the index of the first label.
        return f"{quote(NODE)}:{self.label_name(name)}" if self.several else self.label_name(name)

    def type(self, name: str) -> str:
        return quote(self.types.get(name, name))

    def stored_property(self, name: str) -> str:
        return self.properties.get(name) or (RESERVED_PREFIX + name if name in RESERVED else name)

    def finished(self, cypher: str) -> str:
        """Return the query with stored names for the properties that its template spells out.

        These are the names in `p.name`, `p {.name}` and `{name: "Ida"}`. Raise ConfigError for `p["name"]`.
        """
        tokens = list(tokens_in(cypher))
        texts = ["", *(token.text for token in tokens), "", ""]
        brackets, parts, end = [""], [], 0
        for number, token in enumerate(tokens, 1):
            before, text, after = texts[number - 1 : number + 2]
            if text in ("(", "[", "{"):
                brackets.append(text)
            elif text in (")", "]", "}") and len(brackets) > 1:
                brackets.pop()
            key_of_map = brackets[-1] == "{" and before in ("{", ",") and after == ":"
            if token.kind in ("word", "quoted") and (key_of_map or (before == "." and after != "(")):
                parts += [cypher[end : token.at], self._spelled_out(text)]
                end = token.at + len(text)
            name = after[1:-1]
            indexed = token.at and re.fullmatch(r"[\w`)\]]", cypher[token.at - 1]) and before.upper() != "IN"
            if text == "[" and indexed and texts[number + 2] == "]" and self.stored_property(name) != name:
                raise ConfigError(
                    f"the embedded engine cannot read {before}[{after}]:\n{cypher}", hint=f"write {before}.{name}"
                )
        return "".join([*parts, cypher[end:]])

    def written(self, query: str) -> tuple[str, dict[str, Temporal]]:
        """Return a query of a model in the names that the engine holds, and `date('2001-04-25')` as a parameter.

        Raise QueryRefused for other dates.
        """
        tokens = [*tokens_in(query), *[Token("sign", "", len(query))] * 3]
        parts, end, before = list[str](), 0, ""
        parameters: dict[str, Temporal] = {}
        for token, bracket, text, closing in zip(tokens, tokens[1:], tokens[2:], tokens[3:], strict=False):
            function = TEMPORAL_FUNCTIONS.get(token.text.lower()) if bracket.text == "(" and before != "." else None
            stored = self.types.get(token.name) or self.labels.get(token.name)
            if function is not None:
                if text.kind != "text" or closing.text != ")":
                    raise QueryRefused("query_error", "query_temporal", name=token.text)
                try:
                    parameters[parameter := f"gw_t{len(parameters)}"] = read_temporal(text.text[1:-1], function)
                except ValueError as error:
                    raise QueryRefused("query_error", "query_error", problem=str(error)) from None
                parts += [query[end : token.at], f"${parameter}"]
                end = closing.at + 1
            elif stored and token.kind in ("word", "quoted") and before in (":", "|", "&", "!"):
                parts += [query[end : token.at], quote(stored)]
                end = token.at + len(token.text)
            before = token.text
        return self.finished("".join([*parts, query[end:]])), parameters

    def _spelled_out(self, name: str) -> str:
        """Return the stored form of a property name in the text of a query. One with our prefix is stored already."""
        if not name.startswith("`"):
            stored = self.stored_property(name)
            return stored if stored.isascii() else quote(stored)
        return name if name.startswith(f"`{OUR_PREFIX}") else self.property(name[1:-1].replace("``", "`"))

    def with_own_names(self, text: str) -> str:
        """Return a text of the engine with the original names; a column without an alias is named by its expression."""
        return _STORED.sub(lambda stored: self.name(stored[0]), text) if RESERVED_PREFIX in text else text

    def labels_of(self, variable: str) -> str:
        labels = f"labels({variable})"
        return f"[name IN {labels} WHERE NOT name {_OURS}]" if self.several else labels

    def name(self, stored: str) -> str:
        """Return the original of a stored name."""
        return self.true_names.get(stored, stored)


def names_of(graph: PropertyGraph, several: bool) -> EmbeddedDialect:
    """Return the stored names of a graph."""
    labels = {label for table in graph.node_tables for label in table.labels}
    types = {table.type for table in graph.relationship_tables}
    properties = {name for columns in graph.all_columns() for name in columns}
    # All or none: the engine sorts the labels of a node, and so do we.
    odd_labels = labels if any(map(_is_odd, labels)) else ()
    inside = (
        _number("l", odd_labels),
        _number("t", filter(_is_odd, types)),
        _number("p", filter(_is_odd, properties)) | {name: RESERVED_PREFIX + name for name in properties & RESERVED},
    )
    back = {stored: name for names in inside for name, stored in names.items()}
    return EmbeddedDialect(
        several=several, labels=inside[0], types=inside[1], properties=inside[2], true_names={**_KEPT, **back}
    )


def _is_odd(name: str) -> bool:
    return not _PLAIN.fullmatch(name) or name.startswith(OUR_PREFIX)


def _number(kind: str, names: Iterable[str]) -> dict[str, str]:
    """Return name → stored name; both sort alike."""
    return {name: f"{RESERVED_PREFIX}{kind}{number:06}" for number, name in enumerate(sorted(names))}


def _native(value: Value) -> Value | None:
    """Return numbers and lists. Times of kglite have neither nanoseconds nor names of zones."""
    return value if isinstance(value, tuple) or (isinstance(value, float) and value == value) else None


SERIALISATION = Serialisation(_native)


def load_engine(graph: PropertyGraph) -> tuple[Any, EmbeddedDialect]:
    """Load a graph into a read-only engine of its own; return it with the names of the graph."""
    # Names are checked against the schema before they reach a query, so these warnings would only be noise on stderr.
    kglite.set_query_warning_policy("silent")
    engine = kglite.KnowledgeGraph()
    dialect = names_of(graph, has_several_labels(graph))
    stored = stored_graph(graph, SERIALISATION.stored, dialect.stored_property)
    try:
        _create_nodes(engine, stored, dialect)
        _create_relationships(engine, stored, dialect)
    except REFUSALS as error:
        raise StoreError(f"the embedded engine refused the graph {graph.digest[:12]}: {error}") from error
    engine.read_only(True)
    return engine, dialect


def _create_nodes(engine: Any, graph: PropertyGraph, dialect: EmbeddedDialect) -> None:
    numbers = count()
    for names, rows in node_batches(graph, BATCH):
        for row in rows:
            row["id"] = f"{ID_MARK}{next(numbers)}"
        labels = ":".join(map(dialect.label_name, names)) or quote(NO_LABEL)
        labels = f"{quote(NODE)}:{labels}" if dialect.several else labels
        engine.cypher(f"UNWIND $rows AS row CREATE (n:{labels}) SET n += row", params={"rows": rows})
    tables = [table for table in graph.node_tables if len(table.numbers)]
    for first in [quote(NODE)] if dialect.several and tables else [dialect.label_name(t.label) for t in tables]:
        engine.cypher(f"CREATE INDEX FOR (n:{first}) ON (n.key)")


def _create_relationships(engine: Any, graph: PropertyGraph, dialect: EmbeddedDialect) -> None:
    for type_, pair, rows in relationship_batches(graph, BATCH, by_pair=not dialect.several):
        source, target = map(dialect.label_name, pair) if pair else (quote(NODE), quote(NODE))
        engine.cypher(
            "UNWIND $rows AS row "
            f"MATCH (a:{source} {{key: row.s}}), (b:{target} {{key: row.t}}) "
            f"CREATE (a)-[r:{dialect.type(type_)}]->(b) SET r += row.p",
            params={"rows": rows},
        )


_SCALARS = frozenset({int, float, bool, type(None)})


def own_value(value: Any, dialect: EmbeddedDialect) -> Any:
    """Return a value of the engine under the names of the graph, without what the engine adds; lists become tuples."""
    kind = value.__class__
    if kind is str:
        return decoded(value, dialect.name) if value.startswith(ESCAPED) else value
    if kind in _SCALARS:
        return value
    if kind is list:
        hidden = HIDDEN if NODE in value else ()
        return tuple([own_value(item, dialect) for item in value if not isinstance(item, str) or item not in hidden])
    if kind is not dict:
        return value
    if value.keys() == _NODE_KEYS:
        # Reserved names are renamed, so these are never data.
        properties = {name: held for name, held in value["properties"].items() if name not in _NODE_EXTRAS}
        labels = [decoded(label, dialect.name) for label in value["labels"] if label not in HIDDEN]
        return {"labels": labels, "properties": own_value(properties, dialect)}
    if value.keys() == _RELATIONSHIP_KEYS:
        return {"type": dialect.name(value["type"]), "properties": own_value(value["properties"], dialect)}
    names = dialect.true_names
    own = {
        names.get(n, n): own_value(v, dialect) for n, v in value.items() if n != "id" or not str(v).startswith(ID_MARK)
    }
    return dict(sorted(own.items()))
