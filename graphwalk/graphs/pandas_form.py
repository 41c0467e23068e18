"""Graphs from tables of pandas: one of nodes, one of relationships. pandas itself is not needed to import this."""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from graphwalk.errors import ConfigError
from graphwalk.graphs.formats.common import checked_key, checked_labels, checked_properties, checked_text, labels_of
from graphwalk.graphs.keys import apart_from_key
from graphwalk.graphs.python_values import plain_value
from graphwalk.types.check_type import wrong_type
from graphwalk.types.graph import Node, PropertyGraph, Relationship

if TYPE_CHECKING:
    import pandas as pd


def from_pandas(
    nodes: "pd.DataFrame",
    relationships: "pd.DataFrame",
    *,
    key: str = "key",
    label: str = "label",
    source: str = "source",
    target: str = "target",
    type: str = "type",
) -> PropertyGraph:
    """A graph from a table of nodes and one of relationships, a row each; all other columns are properties.

    `key`, `label`, `source`, `target` and `type` name the columns that hold what a node is called, its labels (text,
    ":First:Second", or a list; missing: none), the two ends of a relationship, and its type. NaN, NaT, NA and None
    count as missing, so whole numbers of a column with gaps, which pandas makes floats, stay floats. Timestamps become
    dates and times. ConfigError for a column that is not there, and for a value that a graph cannot hold.
    """
    _check(nodes, "nodes", (key, label))
    _check(relationships, "relationships", (source, target, type))
    try:
        return PropertyGraph.from_rows(_nodes(nodes, key, label), _relationships(relationships, source, target, type))
    except ValueError as error:
        raise ConfigError(f"cannot use the tables: {error}") from error


def _check(table: "pd.DataFrame", kind: str, columns: Sequence[str]) -> None:
    if not hasattr(table, "columns"):
        raise wrong_type(kind, table, "DataFrame of pandas")
    found = [str(column) for column in table.columns]
    for column in columns:
        if column not in found:
            raise ConfigError(f"the table of {kind} has no column {column!r}", hint=f"its columns: {', '.join(found)}")
    if len(set(found)) < len(found):
        raise ConfigError(f"the table of {kind} has two columns of one name")


def _nodes(table: "pd.DataFrame", key: str, label: str) -> Iterator[Node]:
    for where, row in _rows(table, "nodes"):
        name = checked_key(f"{where}, {key}", _whole(row.pop(key, None)))
        labels = row.pop(label, None)
        yield Node(
            name,
            checked_labels(where, [] if labels is None else labels_of(labels)),
            apart_from_key(checked_properties(where, row), name),
        )


def _relationships(table: "pd.DataFrame", source: str, target: str, type_: str) -> Iterator[Relationship]:
    for where, row in _rows(table, "relationships"):
        yield Relationship(
            checked_text(f"{where}, {type_}", row.pop(type_, None)),
            checked_key(f"{where}, {source}", _whole(row.pop(source, None))),
            checked_key(f"{where}, {target}", _whole(row.pop(target, None))),
            checked_properties(where, row),
        )


def _rows(table: "pd.DataFrame", kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every row with its place, without what is missing."""
    names = [str(column) for column in table.columns]
    columns = [table.iloc[:, number] for number in range(len(names))]
    for number, values in enumerate(zip(*columns, strict=True)):
        plain = ((name, plain_value(value)) for name, value in zip(names, values, strict=True))
        yield f"{kind}, row {number}", {name: value for name, value in plain if not _is_missing(value)}


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _whole(value: Any) -> Any:
    """Keys in a column with gaps are floats; 7.0 is the node 7."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
