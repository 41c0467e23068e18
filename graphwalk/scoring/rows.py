"""Answers that are sets of rows: reading them, and comparing them with the target (docs/method.md, Scores)."""

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphwalk.scoring.extraction import Fit, Shape
from graphwalk.scoring.marks import Marked, boxed_row, labelled_rows, table_rows, whole_value
from graphwalk.scoring.values import normalise

_MOST_ROWS = 1_000_000
_MOST_NAMES = 20
_PLACEHOLDER = re.compile(r"<[^<>]*>|\.\.\.|…")
"""What the asked format has in place of a value, and what stands for rows left out."""


def row_shapes(fields: Sequence[str]) -> tuple[Shape, ...]:
    """The forms of a list of row objects with some of these fields, from what was asked for to what is understood.

    "bare" readings: one object without the list; for a single field also plain values, in a list or alone. "lines":
    several objects that follow each other. "table", "marked": see `marks`.
    """
    known = frozenset(fields)

    def rows(value: Any) -> Fit | None:
        if not isinstance(value, list) or not any(isinstance(row, dict) and known & row.keys() for row in value):
            return None
        kept = [row for row in value if isinstance(row, dict) and not _echo(row, known)]
        return Fit(kept[:_MOST_ROWS], len(kept) < len(value)) if kept else None

    def row(value: Any) -> Fit | None:
        named = known & value.keys() if isinstance(value, dict) else None
        fits = named and not any(isinstance(value[name], list | dict) for name in named) and not _echo(value, known)
        return Fit([value]) if fits else None

    def empty(value: Any) -> Fit | None:
        return Fit([]) if value == [] else None

    def marked(read: Callable[[str, Sequence[str]], Marked | None], stage: str) -> Shape:
        def fit(text: str) -> Fit | None:
            found = read(text, fields)
            return found and Fit(*found)

        return Shape(fit, stage, of_text=True)

    return (
        Shape(rows),
        Shape(row, "bare", joins=True),
        marked(table_rows, "table"),
        marked(boxed_row, "marked"),
        marked(labelled_rows, "marked"),
        *_plain_value_shapes(fields),
        marked(whole_value, "marked"),
        Shape(empty, empty=True),
    )


def _plain_value_shapes(fields: Sequence[str]) -> list[Shape]:
    if len(fields) != 1:
        return []
    (field,) = fields

    def plain_list(value: Any) -> Fit | None:
        if not isinstance(value, list):
            return None
        kept = [item for item in value if isinstance(item, str | int | float) and not _is_placeholder(item)]
        return Fit([{field: item} for item in kept[:_MOST_ROWS]], len(kept) < len(value)) if kept else None

    def plain(value: Any) -> Fit | None:
        quoted = isinstance(value, str) and value.lstrip()[:1] in ("[", "{")
        fits = isinstance(value, str | int | float) and not quoted and not _is_placeholder(value)
        return Fit([{field: value}]) if fits else None

    return [Shape(plain_list, "bare", alone=True), Shape(plain, "bare", alone=True)]


def _echo(row: Mapping[str, Any], known: frozenset[str]) -> bool:
    """True for a row of the asked format itself, without values."""
    values = [row[name] for name in known & row.keys()]
    return bool(values) and all(map(_is_placeholder, values))


def _is_placeholder(value: Any) -> bool:
    return isinstance(value, str) and _PLACEHOLDER.fullmatch(value.strip()) is not None


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
