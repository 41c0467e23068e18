"""Encodings of tool results: written for a model, read back by scripted agents.

A result is text: first its notes, one line each, then its rows. Every encoding gives back the rows it was given.

    json      [{"label": "Film", "properties": {"key": "f7"}}]
    compact   [["label","properties"],["Film",{"key":"f7"}]]
"""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from graphwalk.graphs.values import Row

NOTE = "Note: "
_JSON = json.JSONEncoder(ensure_ascii=False, default=str)
_DENSE_JSON = json.JSONEncoder(ensure_ascii=False, default=str, separators=(",", ":"))
_NEXT_PAGE = re.compile(r'"page": (\d+)')
_PAGE = re.compile(r"page \d+, rows (\d+) to (\d+) of (?:more than )?(\d+)")
_CAUTION = 0.8
"""Share of the further pages that are surely there if rows differ in length."""


def encode_result(rows: Sequence[Row], notes: Sequence[str] = (), encoding: str = "json") -> str:
    """Return the text of a tool result. All rows have the same fields."""
    lines = [NOTE + " ".join(note.splitlines()) for note in notes]
    lines.append(ENCODINGS[encoding].write(rows))
    return "\n".join(lines)


def read_rows(text: str) -> list[Row] | None:
    """Return the rows of a tool result in any encoding; None for other text. Never raise."""
    _, text_of_rows = split_notes(text)
    for encoding in ENCODINGS.values():
        try:
            rows = encoding.read(text_of_rows)
        except (ValueError, TypeError, RecursionError, MemoryError):
            continue
        if isinstance(rows, list) and all(isinstance(row, dict) for row in rows):
            return rows
    return None


def decode_notes(text: str) -> list[str]:
    """Return the notes of a tool result: nothing found, a value tried as a number, more pages."""
    return split_notes(text)[0]


def next_pages(text: str) -> range:
    """Return the numbers of the next pages of a result to request together; none on the last page.

    They are several where pages are limited by tokens. Pages of a number of rows are read one by one, so that the
    published effort of experts holds.
    """
    for note in reversed(decode_notes(text)):
        # … call again with "page": 2
        next_page = _NEXT_PAGE.findall(note)
        if not next_page:
            continue
        first = int(next_page[-1])
        pages = 1
        # page 1, rows 1 to 20 of 97
        position = _PAGE.search(note)
        if position is not None:
            begin = int(position[1])
            end = int(position[2])
            rows = int(position[3])
            pages = max(1, int(_CAUTION * (rows - end) / (end - begin + 1)))
        return range(first, first + pages)
    return range(0)


def split_notes(text: str) -> tuple[list[str], str]:
    """Return the notes of a tool result, and the text of its rows."""
    notes = []
    while text.startswith(NOTE):
        note, _, text = text.partition("\n")
        notes.append(note.removeprefix(NOTE))
    return notes, text


def _to_compact(rows: Sequence[Row]) -> str:
    table = []
    if rows:
        columns = list(rows[0])
        table.append(columns)
        for row in rows:
            table.append([row[name] for name in columns])
    return _DENSE_JSON.encode(table)


def _from_compact(text: str) -> Any:
    table = json.loads(text)
    if not isinstance(table, list) or not all(isinstance(row, list) for row in table):
        raise ValueError(f"not rows: {text[:80]!r}")
    # [["label", "year"], ["Film", 1999]]: the first list has the names
    return [dict(zip(table[0], row, strict=True)) for row in table[1:]]


class ResultEncoding(NamedTuple):
    """An encoding of rows as text; `read` raises ValueError for other text."""

    write: Callable[[Sequence[Row]], str]
    read: Callable[[str], Any]


ENCODINGS: dict[str, ResultEncoding] = {
    "json": ResultEncoding(_JSON.encode, json.loads),
    "compact": ResultEncoding(_to_compact, _from_compact),
}
"""Name → encoding."""
