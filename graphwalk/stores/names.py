"""Names that both engines take in every query as they are: made safe once, when a graph is loaded.

The embedded engine gives some property names a meaning of its own, and its patterns know few characters:

    type → type_     Größe → Grosse     日本語 → RiBenYu     1st → _1st
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from anyascii import anyascii

from graphwalk.graphs.graph import KEY, PropertyColumn, PropertyGraph
from graphwalk.sanitise import one_line

RESERVED = frozenset({"id", "title", "type", "label", "node_type", "updated_at"})
"""Property names that kglite answers itself; it takes `title` for `name` where a node has no other."""
_SAFE = re.compile(r"[A-Za-z_`][A-Za-z0-9_ .`()/-]*")
"""All characters were tried: kglite refuses others in patterns, in back-ticks too."""
_UNSAFE_CHARACTERS = re.compile(r"[^A-Za-z0-9_ .`()/-]")


@dataclass(frozen=True)
class SafeNames:
    """The names of a graph that are not safe → the safe ones."""

    labels: Mapping[str, str]
    types: Mapping[str, str]
    properties: Mapping[str, str]
    reserved: frozenset[str]
    """Names that no property has then: `RESERVED`, without `title` if the engine can tell it from `name`."""

    @classmethod
    def of(cls, graph: PropertyGraph) -> "SafeNames":
        properties = {name for columns in graph.all_columns() for name in columns}
        by_label = defaultdict[str, set[str]](set)
        for table in graph.node_tables:
            for label in table.labels or ("",):
                by_label[label].update(table.columns)
        both = any({"name", "title"} <= names for names in by_label.values())
        reserved = RESERVED if both or "title" not in properties else RESERVED - {"title"}
        return cls(
            _safe_names(label for table in graph.node_tables for label in table.labels),
            _safe_names(table.type for table in graph.relationship_tables),
            _safe_names(properties, reserved | {KEY}),
            reserved,
        )


def describe_changes(graph: PropertyGraph) -> str:
    """Return the names of a graph that are not safe, with the safe ones: "Größe → Grosse"; "" if all are safe."""
    names = SafeNames.of(graph)
    changes = {**names.labels, **names.types, **names.properties}
    return ", ".join(f"{one_line(old)} → {new}" for old, new in sorted(changes.items()))


def _safe_names(names: Iterable[str], reserved: frozenset[str] = frozenset()) -> dict[str, str]:
    taken = {*names}
    unsafe = sorted(name for name in taken if name in reserved or not _SAFE.fullmatch(name))
    taken |= reserved
    safe = {}
    for name in unsafe:
        new = _UNSAFE_CHARACTERS.sub("_", anyascii(name))
        new = new if _SAFE.fullmatch(new) else f"_{new}"
        while new in taken:
            new += "_"
        taken.add(new)
        safe[name] = new
    return safe


def with_safe_names(graph: PropertyGraph) -> PropertyGraph:
    """Return the graph under safe names; the same graph if all are."""
    names = SafeNames.of(graph)
    if not (names.labels or names.types or names.properties):
        return graph

    def columns(old: Mapping[str, PropertyColumn]) -> dict[str, PropertyColumn]:
        return {names.properties.get(name, name): column for name, column in old.items()}

    return replace(
        graph,
        node_tables=tuple(
            replace(
                table,
                labels=tuple(sorted(names.labels.get(label, label) for label in table.labels)),
                columns=columns(table.columns),
            )
            for table in graph.node_tables
        ),
        relationship_tables=tuple(
            replace(table, type=names.types.get(table.type, table.type), columns=columns(table.columns))
            for table in graph.relationship_tables
        ),
    )
