"""Names as the embedded engine takes them: its patterns know few characters, and some property names are its own."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from graphwalk.stores.cypher import NO_LABEL, OUR_PREFIX, RESERVED_PREFIX, Dialect, quote
from graphwalk.types.graph import PropertyGraph

RESERVED = frozenset({"id", "title", "type", "name", "label", "node_type", "created_at", "updated_at"})
"""Property names that have a meaning of their own in kglite."""
NODE = "gw_node"
"""The first label of every node of a graph in which not every node has one label.

The engine keeps an index for the first label of a node alone; others it looks through.
"""
HIDDEN = frozenset({NODE, NO_LABEL})
NAMES = "gw_names"
"""The parameter of a model's own query that holds the way back from stored names."""
STORED = "gw_stored"
"""The one that holds the way there."""
_PLAIN = re.compile(r"[A-Za-z_`][A-Za-z0-9_ .`()/-]*")
"""All characters were tried; others are refused in patterns, in back-ticks too."""


@dataclass(frozen=True, eq=False, kw_only=True)
class EmbeddedDialect(Dialect):
    """Names of one graph: labels, types and properties that are kept under others, and the way back."""

    labels: Mapping[str, str]
    types: Mapping[str, str]
    properties: Mapping[str, str]
    true_names: Mapping[str, str]

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    @property
    def renames(self) -> bool:
        """True where results may hold a name of ours."""
        return self.several or bool(self.true_names)

    def label_name(self, name: str) -> str:
        return quote(self.labels.get(name, name) or NO_LABEL)

    def label(self, name: str) -> str:
        # The engine uses the index of the label that stands first.
        return f"{quote(NODE)}:{self.label_name(name)}" if self.several else self.label_name(name)

    def type(self, name: str) -> str:
        return quote(self.types.get(name, name))

    def stored_property(self, name: str) -> str:
        return self.properties.get(name) or (RESERVED_PREFIX + name if name in RESERVED else name)

    def labels_of(self, variable: str) -> str:
        found = f"labels({variable})"
        hidden = ", ".join(f"'{name}'" for name in sorted(HIDDEN))
        return f"[name IN {found} WHERE NOT name IN [{hidden}]]" if self.several else found

    def confined(self, labels: str, plain: bool) -> str:
        return f":{quote(NODE)}:{labels}" if self.several and plain and labels else f":{labels}" if labels else ""

    def own_labels(self, labels: str) -> str:
        hidden = ", ".join(f"'{name}'" for name in sorted(HIDDEN))
        condition = f" WHERE NOT gw_l IN [{hidden}]" if self.several else ""
        # In round brackets, since the engine takes what follows `IN [` for a list of values.
        return f"([gw_l IN {labels}{condition}{self._as_true('gw_l')}])" if self.renames else labels

    def own_type(self, type_: str) -> str:
        return _true(type_) if self.types else type_

    def property_named(self, expression: str) -> str:
        # A list is indexed like a map, by a number, which the engine does not look up in one.
        return f"coalesce(${STORED}[toString({expression})], {expression})"

    def own_keys(self, keys: str) -> str:
        added = ", ".join(f"'{name}'" for name in sorted(RESERVED))
        return f"([gw_k IN {keys} WHERE NOT gw_k IN [{added}] | {_true('gw_k')}])"

    def _as_true(self, variable: str) -> str:
        return f" | {_true(variable)}" if self.true_names else ""

    def parameters_of(self, cypher: str) -> dict[str, dict[str, str]]:
        """What a query refers to by names of ours: names of properties → those that they are kept under, where these
        are others (`STORED`), and stored names → true ones (`NAMES`). Keys of a map are kept as properties are.
        """
        kept = {name: RESERVED_PREFIX + name for name in RESERVED}
        back = {stored: name for name, stored in kept.items()}
        known = {STORED: {**kept, **self.properties}, NAMES: {**back, **self.true_names}}
        return {name: names for name, names in known.items() if f"${name}" in cypher}

    def name(self, stored: str) -> str:
        """The name that the graph has for a stored one."""
        bare = stored.removeprefix(RESERVED_PREFIX)
        return self.true_names.get(stored, bare if bare in RESERVED else stored)


def names_of(graph: PropertyGraph, several: bool) -> EmbeddedDialect:
    """How the names of a graph are written."""
    labels = {label for table in graph.node_tables for label in table.labels}
    types = {table.type for table in graph.relationship_tables}
    properties = {name for columns in graph.all_columns() for name in columns}
    # All or none: the engine sorts the labels of a node, and so do we.
    odd_labels = labels if any(map(_is_odd, labels)) else ()
    inside = (
        _numbered("l", odd_labels),
        _numbered("t", filter(_is_odd, types)),
        _numbered("p", filter(_is_odd, properties)) | {name: RESERVED_PREFIX + name for name in properties & RESERVED},
    )
    back = {stored: name for names in inside for name, stored in names.items()}
    return EmbeddedDialect(several=several, labels=inside[0], types=inside[1], properties=inside[2], true_names=back)


def _true(variable: str) -> str:
    return f"coalesce(${NAMES}[{variable}], {variable})"


def _is_odd(name: str) -> bool:
    return not _PLAIN.fullmatch(name) or name.startswith(OUR_PREFIX)


def _numbered(kind: str, names: Iterable[str]) -> dict[str, str]:
    """Name → stored name, which sort alike."""
    return {name: f"{RESERVED_PREFIX}{kind}{number:06}" for number, name in enumerate(sorted(names))}
