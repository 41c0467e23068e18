"""How many tokens the JSON text of rows has, worked out from their parts: the text itself is never made.

All weights are hundredths of a token by the rule of `graphwalk.models.tokens`.
"""

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphwalk.models.tokens import rule_hundredths
from graphwalk.types.graph import MISSING, Column
from graphwalk.types.values import Row, Value

Weights = NDArray[np.int64]
_HALF = 50
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
def _of_text_field(name: str, value: str) -> int:
    return of({name: value}) - BRACES


def of_field(name: str, value: Value | None) -> int:
    """The weight of one field of a map."""
    return _of_text_field(name, value) if isinstance(value, str) else of({name: value}) - BRACES


def of_list(items: int, number: int) -> int:
    """The weight of a list of so many items, which have the weight `items` together."""
    return _BRACKETS + items + COMMA * max(0, number - 1)


def of_rows(rows: Iterable[Row]) -> int:
    """The weight of a list of flat rows."""
    each = [
        BRACES + sum([of_field(name, value) for name, value in row.items()]) + COMMA * max(0, len(row) - 1)
        for row in rows
    ]
    return of_list(sum(each), len(each))


def tokens(weight: int) -> int | None:
    """The number of tokens as `count_tokens` gives it; None where only the text can tell: of a half."""
    whole, part = divmod(weight, 100)
    return None if part == _HALF else max(1, whole + (part > _HALF))
