"""Rows in one order and one form, whatever database they come from."""

import json
from collections.abc import Sequence
from typing import Any

from graphwalk.types.graph import value_order
from graphwalk.types.values import Row


def canonical_rows(rows: Sequence[Row]) -> list[Row]:
    """The rows, sorted by their columns from left to right; within a column of properties the key comes first."""
    made = [{name: _canonical(value) for name, value in row.items()} for row in rows]
    if len(made) > 1:
        made.sort(key=_row_order)
    return made


def _canonical(value: Any) -> Any:
    return {name: value[name] for name in sorted(value, key=_key_first)} if isinstance(value, dict) else value


def _key_first(name: str) -> tuple[bool, str]:
    return (name != "key", name)


def _row_order(row: Row) -> list[tuple[int, Any]]:
    return [_order(value) for value in row.values()]


def _order(value: Any) -> tuple[int, Any]:
    """Missing values, then `value_order`, then lists and maps by their text."""
    if value is None:
        return (-1, "")
    if isinstance(value, str | int | float):
        return value_order(value)
    return (3, json.dumps(value, ensure_ascii=False, default=str))
