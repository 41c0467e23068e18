r"""Answers that are sets of rows: shapes of replies, and comparison with the target (docs/method.md, Scores).

Besides JSON, four forms of marked text are read: tables, labelled lines, `\boxed{…}` and bare bullets. Only what is
unambiguous counts: the header of a table and the label of a line must be the names of the asked fields, letter by
letter, and a bare word or number must be the whole reply. "The answer is 12." is left to the model fallback.
"""

import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphwalk.evaluation.extraction import Fit, Shape
from graphwalk.evaluation.values import normalise, parse_answer, value_forms
from graphwalk.types.values import Row

MarkedRows = tuple[list[Row], bool]
"""Rows of marked text, and whether it holds more that could not be read."""

_MOST_ROWS = 1_000_000
_MOST_NAMES = 20
_PLACEHOLDER = re.compile(r"<[^<>]*>|\.\.\.|…")
"""Placeholders of the requested format, and marks for omitted rows."""
_UNSURE = re.compile(r"\s.*|.*\s|([*`\"']).*\1|[-+]?\d{1,3}(?:[,' ]\d{3})+(?:\.\d+)?", re.DOTALL)
"""Space or decoration around a value, and separators of thousands."""


def row_shapes(fields: Sequence[str]) -> tuple[Shape, ...]:
    """Return the forms of a list of rows with some of these fields, from the asked one to the merely understood.

    "bare" readings: one object without the list; for a single field also plain values, in a list or alone. "lines":
    several objects that follow each other. "table", "marked": marked text.
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

    def plain_list(value: Any) -> Fit | None:
        if not isinstance(value, list):
            return None
        kept = [item for item in value if isinstance(item, str | int | float) and not _is_placeholder(item)]
        return _fit([{fields[0]: item} for item in kept[:_MOST_ROWS]], fields, len(kept) < len(value)) if kept else None

    def plain(value: Any) -> Fit | None:
        quoted = isinstance(value, str) and value.lstrip()[:1] in ("[", "{")
        fits = isinstance(value, str | int | float) and not quoted and not _is_placeholder(value)
        return _fit([{fields[0]: value}], fields) if fits else None

    def marked(read: Callable[[str, Sequence[str]], MarkedRows | None], stage: str) -> Shape:
        def fit(text: str) -> Fit | None:
            found = read(text, fields)
            return found and _fit(found[0], known, found[1])

        return Shape(fit, stage, of_text=True)

    plain_values = (Shape(plain_list, "bare", alone=True), Shape(plain, "bare", alone=True))
    return (
        Shape(rows),
        Shape(row, "bare", joins=True),
        marked(table_rows, "table"),
        marked(boxed_row, "marked"),
        marked(labelled_rows, "marked"),
        *(plain_values if len(fields) == 1 else ()),
        marked(whole_value, "marked"),
        Shape(empty, empty=True),
    )


def _fit(rows: list[Row], fields: Collection[str], lossy: bool = False) -> Fit:
    """Return rows as an answer; lossy if the value of a text is ambiguous."""
    texts = (row[name] for row in rows for name in fields if isinstance(row.get(name), str))
    return Fit(rows, lossy or any(map(_UNSURE.fullmatch, texts)))


def _echo(row: Mapping[str, Any], known: frozenset[str]) -> bool:
    """Return True for a row of placeholders of the requested format."""
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
    """Return the rows as a set of normalised tuples; a missing field counts as null."""
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
                forms = list(value_forms(row[field]))
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
    """Compare an answer (None: no answer) with the target on some fields, by the types of the target.

    Correct means equal sets. With `any_one`, each target row is a correct answer: correct means that all given rows are
    target rows, and recall is 1 if there is one. An empty answer scores 0, unless the target is empty.
    """
    if answer is None:
        return NOTHING_RIGHT
    given, target = row_set(typed_rows(answer, gold, fields), fields), row_set(gold, fields)
    if not target and not given:
        return RowScore(True, 1.0, 1.0, 1.0, 0)
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
    """Return the first 20 unrequested fields of an answer by name; they are ignored in scores."""
    return tuple(sorted({name for row in rows for name in row} - set(fields))[:_MOST_NAMES])


def missing_fields(rows: Iterable[Mapping[str, Any]], fields: Sequence[str]) -> tuple[str, ...]:
    """Return the requested fields that at least one row of an answer lacks."""
    held = [row.keys() for row in rows]
    return tuple(field for field in fields if any(field not in names for names in held))


_NUMBER = r"-?\d+(?:\.\d+)?"
_VALUE = re.compile(rf"""[*`$\s]*+(?:(?P<number>{_NUMBER})|"(?P<text>[^"\n]+)"|(?P<word>[\w:.-]*\w))[*`$\s.,;]*+""")
_CODE = re.compile(r"`{1,2}([\w:.-]+)`{1,2}\.?|```\w*\n\s*+([\w:.-]+)\s*+```")
_RULE = re.compile(r"[\s|:-]+")
_BOXED = re.compile(r"\\boxed\{(?:\\(?:text|mathrm|mathbf)\w{0,4}\{)?([^{}\n]{0,200})\}")
_BULLET = re.compile(r"[ \t>]*(?:[-*•+–]|\(?\d{1,6}[.)])[ \t]+(?P<item>\S.*)")
_DECORATION = " \t*_`\"'"
_NOTHING = frozenset({"null", "none", "unknown", "nan", "undefined"})
_ELLIPSES = frozenset({"", "...", "…", "⋮"})


def table_rows(text: str, fields: Sequence[str]) -> MarkedRows | None:
    """Return the rows of the last Markdown table whose header names all fields."""
    lines, number = text.splitlines(), 1
    tables: list[MarkedRows] = []
    while number < len(lines):
        above, rule, number = lines[number - 1], lines[number], number + 1
        is_rule = "|" in above and "|" in rule and "-" in rule and _RULE.fullmatch(rule)
        if not is_rule or not set(fields) <= set(header := _cells(above)):
            continue
        rows, lossy = list[Row](), False
        while number < len(lines) and "|" in lines[number]:
            line = lines[number].strip()
            row = dict(zip(header, _cells(line), strict=False))
            whole = all(row.get(field, "") not in _ELLIPSES for field in fields)
            rows += [row] if whole else []
            lossy |= not whole or (line.startswith("|") and not line.endswith("|"))
            number += 1
        number += 1
        if rows:
            tables.append((rows, lossy))
    if not tables:
        return None
    rows, lossy = tables[-1]
    last = {repr(row) for row in rows}
    return rows, lossy or any(repr(row) not in last for earlier, _ in tables for row in earlier)


def _cells(line: str) -> list[str]:
    return [cell.strip(_DECORATION) for cell in line.strip().strip("|").split("|")]


def labelled_rows(text: str, fields: Sequence[str]) -> MarkedRows | None:
    """Return rows of lines `field: value`; in the last block of such lines a repeated field begins a new row."""
    blocks = list(_blocks(text, fields))
    if not blocks:
        return None
    last = {repr(row) for row in blocks[-1]}
    others = any(repr(row) not in last for block in blocks for row in block)
    return blocks[-1], others or any(set(row) != set(fields) for row in blocks[-1])


def _blocks(text: str, fields: Sequence[str]) -> Iterator[list[Row]]:
    """Yield the rows of each run of labelled lines."""
    names = "|".join(re.escape(field) for field in fields)
    label = re.compile(rf"[\s>*`\"•+–-]*+(?:\d{{1,6}}[.)][\s*`\"]++)?({names})[*`\"]*\s*[:=](.*)")
    block: list[Row] = []
    for line in filter(str.strip, text.splitlines()):
        match = label.fullmatch(line)
        value = _value(match[2]) if match else None
        if match is not None and value is not None:
            if not block or match[1] in block[-1]:
                block.append({})
            block[-1][match[1]] = value
        elif block:
            yield block
            block = []
    if block:
        yield block


def boxed_row(text: str, fields: Sequence[str]) -> MarkedRows | None:
    r"""Return the value of the last `\boxed{…}`, for a single field."""
    values = [value for match in _BOXED.finditer(text) if (value := _value(match[1])) is not None]
    if len(fields) != 1 or not values:
        return None
    return [{fields[0]: values[-1]}], any(value != values[-1] for value in values)


def whole_value(text: str, fields: Sequence[str]) -> MarkedRows | None:
    """Return a number, word, code or quoted text that is the whole reply, or a list of bullets of them."""
    if len(fields) != 1:
        return None
    code = _CODE.fullmatch(text)
    match = _VALUE.fullmatch(code[1] or code[2] if code else text)
    if match and (code or not match["word"]):
        values = [_matched(match)]
    else:
        bullets = [_BULLET.fullmatch(line) for line in text.splitlines() if line.strip()]
        values = [_value(bullet["item"]) if bullet else None for bullet in bullets]
    return ([{fields[0]: value} for value in values], False) if values and None not in values else None


def _value(text: str) -> str | float | None:
    """Return the one number, word or quoted text of a text, or None if it contains more, or nothing."""
    match = _VALUE.fullmatch(text)
    return None if match is None or (match["word"] or "").lower() in _NOTHING else _matched(match)


def _matched(match: re.Match[str]) -> str | float | None:
    number: str | float | None = parse_answer(match["number"]) if match["number"] else None
    return match["number"] or match["text"] or match["word"] if number is None else number
