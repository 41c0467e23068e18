"""Answers that are sets of rows: their forms in replies, and comparison with the target (docs/method.md, Scores)."""

import math
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from graphwalk.graphs.answers import normalise, value_forms
from graphwalk.graphs.graph import value_order
from graphwalk.graphs.values import Row
from graphwalk.suites.extraction import Extraction, ReplyForm, is_doubtful

AnswerRow = Mapping[str, Any]
"""A row as a model wrote it in JSON, or one of the target: field → value."""
RowKey = tuple[tuple[str, tuple[int, Any]], ...]
"""A sortable key of a row: name and order of each value."""

_NEAR = 5e-12
"""Largest relative difference of numbers that agree in 12 digits."""
_BEFORE_ALL_VALUES = (-1, 0)
"""The order of null; that of a value is at least (0, …)."""


def row_form(fields: Sequence[str]) -> ReplyForm:
    """Return the form of a list of rows with some of these fields."""
    reader = _RowReader(fields)
    return ReplyForm(reader.read, fields=tuple(fields), read_other=reader.read_other)


class _RowReader:
    """Reads rows out of a JSON value of a reply.

    The examples beside the code are values for the fields `name` and `born`, or for the only field `name`. A row may
    lack some of the fields, and hold other members.
    """

    def __init__(self, fields: Sequence[str]) -> None:
        self._fields = frozenset(fields)
        self._only_field = fields[0] if len(fields) == 1 else None
        self._field_by_lower_case = {field.lower(): field for field in fields}

    def read(self, value: Any) -> Extraction | None:
        """Return the rows in a value: of the requested form, or "bare", without the list or without the fields."""
        if isinstance(value, list):
            return self._read_list(value)

        if self._is_row(value):
            return self._read_row(value)

        # "Ida", for the only field
        if self._only_field is not None and _is_plain(value):
            return Extraction([{self._only_field: value}], "bare")
        return None

    def _read_list(self, items: list[Any]) -> Extraction | None:
        # [] means that there is nothing.
        if not items:
            return Extraction([])

        # The requested form: [{"name": "Ida", "born": 1950}, {"name": "Bo"}]
        if any(self._is_row(item) for item in items):
            return self._read_rows(items)

        # ["Ida", "Bo"], for the only field
        if self._only_field is not None and all(_is_plain(item) for item in items):
            return Extraction([{self._only_field: item} for item in items], "bare")
        return None

    def _read_rows(self, items: list[Any]) -> Extraction:
        # [{"name": "Ida"}, "or Bo"] loses an item.
        rows = [item for item in items if isinstance(item, dict)]
        has_other_items = len(rows) < len(items)
        return Extraction(rows, lossy=has_other_items or any(self._is_lossy(row) for row in rows))

    def _read_row(self, row: dict[str, Any]) -> Extraction | None:
        # {"name": "Ida", "born": 1950}, but not {"name": ["Ida", "Bo"]}: that may be several rows
        for field in self._fields:
            if isinstance(row.get(field), list | dict):
                return None
        return Extraction([row], "bare", self._is_lossy(row))

    def read_other(self, value: Any) -> Extraction | None:
        """Return the rows in a value whose names differ from the fields, in letter case or altogether."""
        is_list = isinstance(value, list)
        rows = value if is_list else [value]
        if not all(isinstance(row, dict) for row in rows):
            return None

        # [{"Name": "Ida"}], or {"Name": "Ida"}
        renamed = [self._with_fields(row) for row in rows]
        if any(self._is_row(row) for row in renamed):
            return self._read_renamed(rows, renamed, is_list=is_list)

        # [{"person": "Ida"}, {"person": "Bo"}], for the only field
        if is_list and self._only_field is not None:
            return self._read_other_name(rows, self._only_field)
        return None

    def _with_fields(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return a row under the names of the fields that its names equal but for letter case."""
        return {self._field_by_lower_case.get(name.lower(), name): value for name, value in row.items()}

    def _read_renamed(
        self, rows: list[dict[str, Any]], renamed: list[dict[str, Any]], *, is_list: bool
    ) -> Extraction | None:
        extraction = self.read(renamed if is_list else renamed[0])
        if extraction is None:
            return None

        # {"name": "Ida", "Name": "Bo"} has lost a value.
        for row, with_fields in zip(rows, renamed, strict=True):
            if len(with_fields) < len(row):
                return extraction._replace(lossy=True)
        return extraction

    def _read_other_name(self, rows: list[dict[str, Any]], field: str) -> Extraction | None:
        """Read rows that all have one value, under the same other name, as values of the field."""
        if not rows or len(rows[0]) != 1:
            return None

        # [{"rejected_candidate": "Ida"}] is no answer.
        (other_name,) = rows[0]
        if is_doubtful(other_name.replace("_", " ")):
            return None

        values = []
        for row in rows:
            if row.keys() != {other_name}:
                return None
            value = row[other_name]
            # [{"correct": true}] is a verdict.
            if isinstance(value, bool) or not _is_plain(value):
                return None
            values.append(value)
        return Extraction([{field: value} for value in values])

    def _is_row(self, value: Any) -> bool:
        """Return True for an object with one of the fields."""
        return isinstance(value, dict) and not self._fields.isdisjoint(value)

    def _is_lossy(self, row: AnswerRow) -> bool:
        """Return True if a member beside the fields may be a verdict, doubt the row, or hold another answer.

        Examples: {"name": "Ida", "correct": false}, {"name": "Ida", "note": "a guess"}, {"name": "Ida", "or": ["Bo"]}
        """
        for name, value in row.items():
            if name in self._fields:
                continue
            if isinstance(value, bool | list | dict):
                return True
            if isinstance(value, str) and is_doubtful(value):
                return True
        return False


def _is_plain(value: Any) -> bool:
    """Return True for a number, a boolean and a text, unless it begins like JSON."""
    if isinstance(value, str):
        return not value.lstrip().startswith(("[", "{"))
    return isinstance(value, int | float)


@dataclass(frozen=True, slots=True)
class RowScore:
    """Comparison of answer and target as sets; rates in 0 … 1. `false_positives`: distinct rows not in the target."""

    correct: bool
    precision: float
    recall: float
    f1: float
    false_positives: int


NOTHING_RIGHT = RowScore(False, 0.0, 0.0, 0.0, 0)


def row_set(rows: Iterable[AnswerRow], fields: Sequence[str]) -> frozenset[tuple[Hashable, ...]]:
    """Return the rows as a set of normalised tuples; a missing field counts as null."""
    tuples = set()
    for row in rows:
        tuples.add(tuple(normalise(row.get(field)) for field in fields))
    return frozenset(tuples)


def typed_rows(
    answer: Iterable[AnswerRow],
    target: Sequence[AnswerRow],
    fields: Iterable[str],
) -> list[dict[str, Any]]:
    """Return the answer with the values of each field in the type that the target has there: "12" as 12, 7 as "7".

    A number becomes one of the target that is not whole and agrees with it in 12 digits.
    """
    rows = [dict(row) for row in answer]
    if not rows:
        return []
    for field in fields:
        held = _TargetValues([row[field] for row in target if row.get(field) is not None])
        for row in rows:
            if field in row:
                row[field] = held.typed(row[field])
    return rows


class _TargetValues:
    """The values of one field of the target, to which a model's values are fitted."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._normalised = {normalise(value) for value in values}
        self._kinds = {_kind(value) for value in values}
        # NaN has no place in a sorted list, and infinity is close to no number.
        fractions = {value for value in values if type(value) is float and math.isfinite(value) and value % 1}
        self._fractions = sorted(fractions)

    def typed(self, value: Any) -> Any:
        """Return the form of a value that the target has, or one close to it, or one of a type that it has."""
        # "12" has the forms "12" and 12; where the target holds both, the form that was written counts.
        forms = list(value_forms(value))
        for form in forms:
            if normalise(form) in self._normalised:
                return form

        # The model's 0.30000000000000004 is the target's 0.3.
        for form in forms:
            close = self._closest_fraction(form)
            if close is not None:
                return close

        # A wrong value too gets the type of the field.
        for form in forms:
            if _kind(form) in self._kinds:
                return form
        return value

    def _closest_fraction(self, value: Any) -> float | None:
        """Return the closest number of the target that agrees in 12 digits, None without one."""
        if _kind(value) is not float:
            return None
        # Only the neighbours of a number in the sorted list can be the closest to it.
        place = bisect_left(self._fractions, value)
        neighbours = self._fractions[max(0, place - 1) : place + 1]
        close = [number for number in neighbours if math.isclose(number, value, rel_tol=_NEAR)]
        return min(close, key=lambda number: abs(number - value), default=None)


def _kind(value: Any) -> type:
    """Return the type of a value; whole numbers are of one type with the others."""
    return float if type(value) is int else type(value)


def compare_rows(
    answer: Sequence[AnswerRow] | None,
    target: Sequence[AnswerRow],
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

    answered = row_set(typed_rows(answer, target, fields), fields)
    right = row_set(target, fields)
    if any_one:
        row_without_value = (None,) * len(fields)
        right -= {row_without_value}
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
        correct=precision == 1.0 and recall == 1.0,
        precision=precision,
        recall=recall,
        f1=2 * precision * recall / (precision + recall),
        false_positives=len(answered) - right,
    )


def missing_fields(rows: Iterable[AnswerRow], fields: Sequence[str]) -> tuple[str, ...]:
    """Return the requested fields that at least one row of an answer lacks."""
    missing: set[str] = set()
    for row in rows:
        missing.update(field for field in fields if field not in row)
    return tuple(field for field in fields if field in missing)


def row_key(row: Row) -> RowKey:
    """Return a sortable key, equal for rows that are equal in Cypher: 1 equals 1.0, not true."""
    key = []
    for name in sorted(row):
        value = row[name]
        order = _BEFORE_ALL_VALUES if value is None else value_order(value)
        key.append((name, order))
    return tuple(key)


def distinct(rows: Iterable[Row], most: int | None = None) -> list[Row]:
    """Return distinct rows in ascending order; at most `most` + 1 of them."""
    by_key: dict[RowKey, Row] = {}
    for row in rows:
        by_key[row_key(row)] = row
        if most is not None and len(by_key) > most:
            break
    return [by_key[key] for key in sorted(by_key)]


def same_rows(one: Iterable[Row], other: Iterable[Row]) -> bool:
    """Return True for equal sets of rows, where 1 and true differ in contrast to Python."""
    return {row_key(row) for row in one} == {row_key(row) for row in other}
