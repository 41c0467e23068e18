"""How many tokens the JSON text of rows has, worked out from their parts: the text itself is never made.

All weights are hundredths of a token by the rule of `graphwalk.models.tokens`.
"""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphwalk.models.tokens import rule_hundredths
from graphwalk.types.graph import MISSING, Column
from graphwalk.types.values import Row, Value

Weights = NDArray[np.int64]
_REMEMBERED = 1 << 17
"""Fields of answers: a pool of values is small, and most keys come again."""


def of(value: Any) -> int:
    """The weight of a value as JSON."""
    return rule_hundredths(json.dumps(value, ensure_ascii=False))


COMMA = rule_hundredths(", ")
BRACES = of({})
_BRACKETS, _QUOTES = of([]), of("")


def inside_quotes(text: str) -> int:
    """The weight of a text without its quotation marks."""
    return of(text) - _QUOTES


def of_maps(columns: Mapping[str, Column], length: int, keys: Weights | None = None) -> Weights:
    """The weight of the map of properties of every entity of a table; `keys`: with its key, whose weight this is."""
    total = np.full(length, BRACES, dtype=np.int64)
    fields = np.zeros(length, dtype=np.int64)
    if keys is not None:
        total += keys + of_field("key", "")
        fields += 1
    for name, column in columns.items():
        here = column.codes != MISSING
        pool = np.array([*(of_field(name, value) for value in column.pool), 0], dtype=np.int64)
        total += np.where(here, pool[column.codes], 0)
        fields += here
    total += COMMA * np.maximum(fields - 1, 0)
    return total


@lru_cache(maxsize=_REMEMBERED)
def of_text(value: str) -> int:
    """The weight of a text as JSON."""
    return of(value)


@lru_cache(maxsize=_REMEMBERED)
def _of_name(name: str) -> int:
    """The weight of a field without its value."""
    return of({name: ""}) - BRACES - _QUOTES


def of_field(name: str, value: Value | None) -> int:
    """The weight of one field of a map."""
    return _of_name(name) + of_text(value) if isinstance(value, str) else of({name: value}) - BRACES


def of_list(items: int, number: int) -> int:
    """The weight of a list of so many items, which have the weight `items` together."""
    return _BRACKETS + items + COMMA * max(0, number - 1)


def of_rows(rows: Sequence[Row], keys: Mapping[Value, int] | None = None) -> int:
    """The weight of a list of flat rows with the same fields; `keys`: texts that often stand in them, whose weight
    without quotation marks this is.
    """
    known = keys or {}
    total = 0
    for name in rows[0] if rows else ():
        column = [row[name] for row in rows]
        weights = [known[value] for value in column if value in known]
        if len(weights) == len(column):
            total += sum(weights) + len(rows) * (_of_name(name) + _QUOTES)
        else:
            total += sum(of_field(name, value) for value in column)
    each = BRACES + COMMA * max(0, len(rows[0]) - 1) if rows else 0
    return of_list(total + each * len(rows), len(rows))
