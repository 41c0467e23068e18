"""Answers that are sets of rows: reading them, and comparing them with the target (docs/method.md, Scores)."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphwalk.scoring.extraction import Shape
from graphwalk.scoring.values import normalise
from graphwalk.types.values import Row

_MOST_ROWS = 1_000_000
_MOST_NAMES = 20


def row_shapes(fields: Sequence[str]) -> tuple[Shape, ...]:
    """The forms of a list of row objects with some of these fields, from what was asked for to what is understood.

    "bare" readings: one object without the list; for a single field also plain values, in a list or alone.
    """
    known = frozenset(fields)

    def rows(value: Any) -> list[Row] | None:
        fits = isinstance(value, list) and value and all(isinstance(row, dict) for row in value)
        return value[:_MOST_ROWS] if fits and any(known & row.keys() for row in value) else None

    def row(value: Any) -> list[Row] | None:
        named = known & value.keys() if isinstance(value, dict) else None
        return [value] if named and not any(isinstance(value[name], list | dict) for name in named) else None

    def empty(value: Any) -> list[Row] | None:
        return [] if value == [] else None

    shapes = [Shape(rows), Shape(row, "bare"), *_plain_value_shapes(fields), Shape(empty)]
    return tuple(shapes)


def _plain_value_shapes(fields: Sequence[str]) -> list[Shape]:
    if len(fields) != 1:
        return []
    (field,) = fields

    def plain_list(value: Any) -> list[Row] | None:
        fits = isinstance(value, list) and value and all(isinstance(item, str | int | float) for item in value)
        return [{field: item} for item in value[:_MOST_ROWS]] if fits else None

    def plain(value: Any) -> list[Row] | None:
        return [{field: value}] if isinstance(value, str | int | float) else None

    return [Shape(plain_list, "bare", alone=True), Shape(plain, "bare", alone=True)]


@dataclass(frozen=True, slots=True)
class RowScore:
    """Set comparison of an answer with a target; all rates are in 0 … 1.

    `false_positives` are distinct rows that are not in the target.
    """

    correct: bool
    precision: float
    recall: float
    f1: float
    false_positives: int


NOTHING_RIGHT = RowScore(False, 0.0, 0.0, 0.0, 0)


def row_set(rows: Iterable[Mapping[str, Any]], fields: Sequence[str]) -> frozenset[tuple[Hashable, ...]]:
    """The rows as a set of normalised tuples; a missing field counts as null."""
    return frozenset(tuple(normalise(row.get(field)) for field in fields) for row in rows)


def compare_rows(
    answer: Sequence[Mapping[str, Any]] | None,
    gold: Sequence[Mapping[str, Any]],
    fields: Sequence[str],
    *,
    any_one: bool = False,
) -> RowScore:
    """How well an answer (None: there is none) matches the target on some fields.

    Correct means equal sets. With `any_one` every target row is a right answer by itself: correct means that all
    rows given are among them, and one of them makes the recall 1. An empty answer scores 0, unless the target is
    empty too.
    """
    if answer is None:
        return NOTHING_RIGHT
    given, target = row_set(answer, fields), row_set(gold, fields)
    if not target:
        return RowScore(True, 1.0, 1.0, 1.0, 0) if not given else RowScore(False, 0.0, 0.0, 0.0, len(given))
    right = len(given & target)
    if not right:
        return RowScore(False, 0.0, 0.0, 0.0, len(given))
    precision = right / len(given)
    recall = 1.0 if any_one else right / len(target)
    return RowScore(
        correct=precision == recall == 1.0,
        precision=precision,
        recall=recall,
        f1=2 * precision * recall / (precision + recall),
        false_positives=len(given) - right,
    )


def unknown_fields(rows: Iterable[Mapping[str, Any]], fields: Sequence[str]) -> tuple[str, ...]:
    """Fields of an answer that nobody asked for, the first 20 by name; they are ignored in scores."""
    return tuple(sorted({name for row in rows for name in row} - set(fields))[:_MOST_NAMES])


def missing_fields(rows: Iterable[Mapping[str, Any]], fields: Sequence[str]) -> tuple[str, ...]:
    """Fields that at least one row of an answer lacks, in the order in which they were asked for."""
    lacking: set[str] = set()
    for row in rows:
        lacking |= set(fields) - row.keys()
    return tuple(field for field in fields if field in lacking)
