"""Answers that are sets of rows: their forms in replies, and comparison with the target (docs/method.md, Scores)."""

import math
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from operator import ne
from typing import Any

from graphwalk.graphs.answers import normalise, value_forms
from graphwalk.graphs.graph import value_order
from graphwalk.graphs.values import Row
from graphwalk.suites.extraction import Extraction, ReplyForm, is_doubtful

_NEAR = 5e-12
"""Largest relative difference of numbers that agree in 12 digits."""


def row_form(fields: Sequence[str]) -> ReplyForm:
    """Return the form of a list of rows with some of these fields.

    "bare" readings: one row without the list; for a single field also plain values, in a list or alone. A row is
    lossy if another member may be a verdict or hold another answer: a boolean, a list, or words of doubt. Other forms:
    names in other letter case; for a single field also a list of objects with one other name, and one value each.
    """
    names = frozenset(fields)
    by_lower = {name.lower(): name for name in fields}

    def is_row(value: Any) -> bool:
        return isinstance(value, dict) and bool(names & value.keys())

    def is_plain(value: Any) -> bool:
        return isinstance(value, int | float) or (isinstance(value, str) and value.lstrip()[:1] not in ("[", "{"))

    def is_lossy(row: Mapping[str, Any]) -> bool:
        others = [value for name, value in row.items() if name not in names]
        return any(
            is_doubtful(item) if isinstance(item, str) else isinstance(item, bool | list | dict) for item in others
        )

    def read(value: Any) -> Extraction | None:
        if isinstance(value, list):
            rows = [row for row in value if isinstance(row, dict)]
            if any(map(is_row, rows)) or not value:
                return Extraction(rows, lossy=len(rows) < len(value) or any(map(is_lossy, rows)))
            plain = len(fields) == 1 and all(map(is_plain, value))
            return Extraction([{fields[0]: item} for item in value], "bare") if plain else None
        if is_row(value):
            nested = any(isinstance(value.get(name), list | dict) for name in fields)
            return None if nested else Extraction([value], "bare", is_lossy(value))
        return Extraction([{fields[0]: value}], "bare") if len(fields) == 1 and is_plain(value) else None

    def read_other(value: Any) -> Extraction | None:
        rows = value if isinstance(value, list) else [value]
        if not all(isinstance(row, dict) for row in rows):
            return None
        renamed = [{by_lower.get(name.lower(), name): item for name, item in row.items()} for row in rows]
        if any(map(is_row, renamed)):
            fit = read(renamed if value is rows else renamed[0])
            return fit and fit._replace(lossy=fit.lossy or any(map(ne, map(len, rows), map(len, renamed))))
        if value is not rows or len(fields) > 1 or len({tuple(row) for row in rows}) != 1:
            return None
        items = [item for row in rows for item in row.values()]
        plain = len(items) == len(rows) and all(is_plain(item) and not isinstance(item, bool) for item in items)
        doubtful = is_doubtful(" ".join(rows[0]).replace("_", " "))
        return Extraction([{fields[0]: item} for item in items]) if plain and not doubtful else None

    return ReplyForm(read, fields=tuple(fields), read_other=read_other)


@dataclass(frozen=True, slots=True)
class RowScore:
    """Comparison of answer and target as sets; rates in 0 … 1. `false_positives`: distinct rows not in the target."""

    correct: bool
    precision: float
    recall: float
    f1: float
    false_positives: int


NOTHING_RIGHT = RowScore(False, 0.0, 0.0, 0.0, 0)


def row_set(rows: Iterable[Mapping[str, Any]], fields: Sequence[str]) -> frozenset[tuple[Hashable, ...]]:
    """Return the rows as a set of normalised tuples; a missing field counts as null."""
    return frozenset(tuple(normalise(row.get(field)) for field in fields) for row in rows)


def typed_rows(
    answer: Iterable[Mapping[str, Any]],
    target: Sequence[Mapping[str, Any]],
    fields: Iterable[str],
) -> list[dict[str, Any]]:
    """Return the answer with the values of each field in the type that the target has there: "12" as 12, 7 as "7".

    A number becomes one of the target that is not whole and agrees with it in 12 digits.
    """
    rows = [dict(row) for row in answer]
    for field in fields:
        held = [row[field] for row in target if row.get(field) is not None]
        values, types = {normalise(value) for value in held}, {_type(value) for value in held}
        numbers = sorted({value for value in held if type(value) is float and value % 1})
        for row in rows:
            if field in row:
                forms = list(value_forms(row[field]))
                same = (form for form in forms if normalise(form) in values)
                close = (number for form in forms for number in _close_numbers(form, numbers))
                typed = (form for form in forms if _type(form) in types)
                row[field] = next(chain(same, close, typed, forms))
    return rows


def _close_numbers(value: Any, numbers: Sequence[float]) -> list[float]:
    """Return the neighbours of a number in a sorted list that are close to it, the closest first."""
    if _type(value) is not float:
        return []
    place = bisect_left(numbers, value)
    close = [n for n in numbers[max(0, place - 1) : place + 1] if math.isclose(n, value, rel_tol=_NEAR)]
    return sorted(close, key=lambda number: abs(number - value))


def _type(value: Any) -> type:
    return float if type(value) is int else type(value)


def compare_rows(
    answer: Sequence[Mapping[str, Any]] | None,
    target: Sequence[Mapping[str, Any]],
    fields: Sequence[str],
    *,
    any_one: bool = False,
) -> RowScore:
    """Compare an answer (None: no answer) with the target on some fields, by the types of the target.

    Correct means equal sets. With `any_one`, each target row with a value is a correct answer: correct means that all
    answered rows are such rows, and recall is 1 if there is one. An empty answer scores 0, unless the target is empty.
    """
    if answer is None:
        return NOTHING_RIGHT
    answered, right = row_set(typed_rows(answer, target, fields), fields), row_set(target, fields)
    if any_one:
        right = frozenset(row for row in right if any(value is not None for value in row))
    return compare_sets(answered, right, any_one=any_one)


def compare_sets(answered: Set[Any], target: Set[Any], *, any_one: bool = False) -> RowScore:
    """Compare two sets; two empty ones are equal."""
    if not target and not answered:
        return RowScore(True, 1.0, 1.0, 1.0, 0)
    right = len(answered & target)
    if not right:
        return RowScore(False, 0.0, 0.0, 0.0, len(answered))
    precision = right / len(answered)
    recall = 1.0 if any_one else right / len(target)
    return RowScore(
        correct=precision == recall == 1.0,
        precision=precision,
        recall=recall,
        f1=2 * precision * recall / (precision + recall),
        false_positives=len(answered) - right,
    )


def missing_fields(rows: Iterable[Mapping[str, Any]], fields: Sequence[str]) -> tuple[str, ...]:
    """Return the requested fields that at least one row of an answer lacks."""
    held = [row.keys() for row in rows]
    return tuple(field for field in fields if any(field not in names for names in held))


def row_key(row: Row) -> tuple[tuple[str, tuple[int, Any]], ...]:
    """Return a sortable key, equal for rows that are equal in Cypher: 1 equals 1.0, not true."""
    return tuple((name, (-1, 0) if row[name] is None else value_order(row[name])) for name in sorted(row))


def distinct(rows: Iterable[Row], most: int | None = None) -> list[Row]:
    """Return distinct rows in ascending order; at most `most` + 1 of them."""
    by_key: dict[tuple[tuple[str, tuple[int, Any]], ...], Row] = {}
    for row in rows:
        by_key[row_key(row)] = row
        if most is not None and len(by_key) > most:
            break
    return [by_key[key] for key in sorted(by_key)]


def same_rows(one: Iterable[Row], other: Iterable[Row]) -> bool:
    """Return True for equal sets of rows, where 1 and true differ in contrast to Python."""
    return set(map(row_key, one)) == set(map(row_key, other))
