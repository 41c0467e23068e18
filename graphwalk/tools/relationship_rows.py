"""The columns of a tool's rows: keys, labels, and the relationship that a row shows.

Scripted agents read rows with these functions, and so does what explains an episode (graphwalk/analysis/observed.py).
A row of `get_all_nearest_neighbors`, with all columns that it may have:

    {"center_key": "f1", "direction": "incoming", "type": "DIRECTED", "relationship_properties": {"days": 40},
     "neighbor_label": "Person", "neighbor_properties": {"key": "p1", "name": "Ida"}}
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from graphwalk.graphs.graph import KEY
from graphwalk.graphs.values import Row, Value

_CUT = re.compile(r"… \([\d,]+ (?:characters|in all)\)\Z")
"""The end of a value of which only the beginning was shown."""
Pair = tuple[str, str, str]
"""Label of the source, type, label of the target: what the schema allows. "": no label."""


def is_key(field: str) -> bool:
    """Return True if a column or a field of an answer has this name because it holds keys of nodes."""
    return field == KEY or field.endswith(("_key", ".key"))


@dataclass(slots=True, eq=False)
class RelationshipRow:
    """One relationship as one row shows it. Parallel relationships may look alike, so each equals itself only.

    Not frozen, because millions are made. The centre has the one label that the call asked for; it may have more.
    """

    source: str
    source_labels: frozenset[str]
    type: str
    target: str
    target_labels: frozenset[str]
    properties: Mapping[str, Value]
    """Empty where the tools hide the properties of relationships."""
    neighbor: Mapping[str, Value]
    """Properties of the end that is not the centre, its key among them."""
    outgoing: bool
    """The centre is the source."""
    directed: bool = True
    """False where the row hides the direction and the schema allows both or neither."""

    @property
    def centre(self) -> str:
        """Return the key of the node that the call asked about."""
        return self.source if self.outgoing else self.target

    @property
    def other_end(self) -> tuple[str, frozenset[str]]:
        """Return the key and all labels of the end that is not the centre."""
        return (self.target, self.target_labels) if self.outgoing else (self.source, self.source_labels)


def relationship_in(row: Row, label: str, pairs: frozenset[Pair] = frozenset()) -> RelationshipRow | None:
    """Return the relationship of a row about a centre with this label; None for a row of another form.

    `pairs` decide on the direction where the row hides it: outgoing if they allow both.
    """
    centre = row.get("center_key")
    type_ = row.get("type")
    neighbor = row.get("neighbor_properties")
    if not isinstance(centre, str) or not isinstance(type_, str) or not isinstance(neighbor, dict):
        return None
    neighbor_key = neighbor.get(KEY)
    neighbor_labels = labels_in(row, "neighbor_label")
    if neighbor_labels is None or not is_node_key(neighbor_key):
        return None

    if "direction" in row:
        outgoing = row["direction"] == "outgoing"
        directed = outgoing or row["direction"] == "incoming"
    else:
        may_be_outgoing = any((label, type_, neighbor_label) in pairs for neighbor_label in neighbor_labels)
        may_be_incoming = any((neighbor_label, type_, label) in pairs for neighbor_label in neighbor_labels)
        outgoing = may_be_outgoing
        directed = may_be_outgoing != may_be_incoming

    properties = row.get("relationship_properties")
    if not isinstance(properties, dict):
        properties = {}
    centre_labels = _label_set(label)
    other_labels = _label_set(*neighbor_labels)
    other = str(neighbor_key)
    if outgoing:
        return RelationshipRow(
            centre, centre_labels, type_, other, other_labels, properties, neighbor, outgoing=True, directed=directed
        )
    return RelationshipRow(
        other, other_labels, type_, centre, centre_labels, properties, neighbor, outgoing=False, directed=directed
    )


def labels_in(row: Row, name: str) -> list[str] | None:
    """Return the labels in the column `name`, or in `name`s where nodes may have several; None where it has none."""
    return as_labels(row[name] if name in row else row.get(f"{name}s"))


def as_labels(value: Any) -> list[str] | None:
    """Return labels of which a row has one or a list; None for anything else."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list) and all(type(label) is str for label in value):
        return value
    return None


def is_node_key(key: Any) -> bool:
    """Return True for a value that can be the key of a node: "f1" or 17, not true."""
    return isinstance(key, str | int) and not isinstance(key, bool)


def is_cut(value: Any) -> bool:
    """Return True for a value that a page shows in part: "The quiet har… (310 characters)"."""
    if isinstance(value, list):
        return any(is_cut(item) for item in value)
    return isinstance(value, str) and _CUT.search(value) is not None


@lru_cache(maxsize=4096)
def _label_set(*labels: str) -> frozenset[str]:
    """Equal sets are one object: millions of rows have few labels."""
    return frozenset(labels)
