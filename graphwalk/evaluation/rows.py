"""Answers that are sets of rows: reading them, and comparing them with the target (docs/method.md, Scores)."""

import re
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphwalk.evaluation.extraction import Fit, Shape
from graphwalk.evaluation.marks import Marked, boxed_row, labelled_rows, table_rows, whole_value
from graphwalk.evaluation.values import normalise, readings
from graphwalk.types.values import Row

_MOST_ROWS = 1_000_000
_MOST_NAMES = 20
_PLACEHOLDER = re.compile(r"<[^<>]*>|\.\.\.|…")
"""What the asked format has in place of a value, and what stands for rows left out."""
_UNSURE = re.compile(r"\s.*|.*\s|([*`\"']).*\1|[-+]?\d{1,3}(?:[,' ]\d{3})+(?:\.\d+)?", re.DOTALL)
"""Space or decoration around a value, and separators of thousands."""


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
        return _fit(kept[:_MOST_ROWS], known, len(kept) < len(value)) if kept else None

    def row(value: Any) -> Fit | None:
        named = known & value.keys() if isinstance(value, dict) else None
        fits = named and not any(isinstance(value[name], list | dict) for name in named) and not _echo(value, known)
        return _fit([value], known) if fits else None

    def empty(value: Any) -> Fit | None:
        return Fit([]) if value == [] else None

    def marked(read: Callable[[str, Sequence[str]], Marked | None], stage: str) -> Shape:
        def fit(text: str) -> Fit | None:
            found = read(text, fields)
            return found and _fit(found[0], known, found[1])

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
        return _fit([{field: item} for item in kept[:_MOST_ROWS]], fields, len(kept) < len(value)) if kept else None

    def plain(value: Any) -> Fit | None:
        quoted = isinstance(value, str) and value.lstrip()[:1] in ("[", "{")
        fits = isinstance(value, str | int | float) and not quoted and not _is_placeholder(value)
        return _fit([{field: value}], fields) if fits else None

    return [Shape(plain_list, "bare", alone=True), Shape(plain, "bare", alone=True)]


def _fit(rows: list[Row], fields: Collection[str], lossy: bool = False) -> Fit:
    """Rows as an answer; lossy where a text is not surely the value as the graph has it."""
    texts = (row[name] for row in rows for name in fields if isinstance(row.get(name), str))
    return Fit(rows, lossy or any(map(_UNSURE.fullmatch, texts)))


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


def typed_rows(
    answer: Iterable[Mapping[str, Any]], gold: Sequence[Mapping[str, Any]], fields: Iterable[str]
) -> list[dict[str, Any]]:
    """Return the answer with the values of each field in the type that the target has there: "12" as 12, 7 as "7"."""
    rows = [dict(row) for row in answer]
    for field in fields:
        held = [row[field] for row in gold if row.get(field) is not None]
        values, types = {normalise(value) for value in held}, {_type(value) for value in held}
        for row in rows:
            if field in row:
                forms = list(readings(row[field]))
                same = (form for form in forms if normalise(form) in values)
                row[field] = next(same, next((form for form in forms if _type(form) in types), row[field]))
    return rows


def _type(value: Any) -> type:
    return float if type(value) is int else type(value)


def compare_rows(
    answer: Sequence[Mapping[str, Any]] | None,
    gold: Sequence[Mapping[str, Any]],
    fields: Sequence[str],
    *,
    any_one: bool = False,
) -> RowScore:
    """How well an answer (None: there is none) matches the target on some fields, by the types of the target.

    Correct means equal sets. With `any_one` every target row is a right answer by itself: correct means that all
    rows given are among them, and one of them makes the recall 1. An empty answer scores 0, unless the target is
    empty too.
    """
    if answer is None:
        return NOTHING_RIGHT
    given, target = row_set(typed_rows(answer, gold, fields), fields), row_set(gold, fields)
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
