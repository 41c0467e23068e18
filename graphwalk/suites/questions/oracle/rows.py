"""Rows compared as sets: order and repetition carry no meaning in an answer."""

from collections.abc import Iterable
from typing import Any

from graphwalk.types.graph import value_order
from graphwalk.types.values import PLAIN, Row, shown

RowKey = tuple[tuple[str, tuple[int, Any]], ...]


def as_shown(row: Row) -> Row:
    """The row with its values in the form in which they are answered: a date as text, a list as a list."""
    plain = all(value.__class__ in PLAIN or value is None for value in row.values())
    return row if plain else {name: shown(value) for name, value in row.items()}


def row_key(row: Row) -> RowKey:
    """Equal for rows with equal fields; 1 and 1.0 are equal, 1 and true are not (Cypher's equality). Sortable."""
    return tuple((name, (-1, 0) if row[name] is None else value_order(row[name])) for name in sorted(row))


def distinct(rows: Iterable[Row], most: int | None = None) -> list[Row]:
    """Every row once, in ascending order. `most`: of more rows, any `most` + 1."""
    by_key: dict[RowKey, Row] = {}
    for row in rows:
        by_key[row_key(row)] = row
        if most is not None and len(by_key) > most:
            break
    return [by_key[key] for key in sorted(by_key)]


def same_rows(left: Iterable[Row], right: Iterable[Row]) -> bool:
    return {row_key(row) for row in left} == {row_key(row) for row in right}
