"""Results for a model: rows in one order whatever database they come from, in pages within its limits."""

import json
from collections.abc import Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from graphwalk.config.agent import MOST_ROWS, AgentConfig
from graphwalk.errors import ToolMistake
from graphwalk.graphs.graph import KEY, value_order
from graphwalk.graphs.values import Row
from graphwalk.models.tokens import count_tokens
from graphwalk.tools.encodings import encode_result

SHORTEST = 40
"""Characters that are left of a value where a single row is longer than a page."""
CHARACTERS_PER_TOKEN = 2
"""Characters per token of unknown text: few, so that a value shown whole fits a page."""
VALUE_PART = 10
"""A value of a result of several rows has at most this part of the page's tokens, in characters."""
PAGE_ROWS = 100
"""Largest number of rows on a page."""
_ALL_ROWS = 2**31


def canonical_rows(rows: list[Row]) -> list[Row]:
    """Return the rows sorted by their columns from left to right; maps of properties have the key first.

    All rows have the same columns, and none is used again by the caller: they are changed in place.
    """
    for row in rows:
        for name, value in row.items():
            if value.__class__ is dict:
                # {"title": "Up", "key": "f7", "year": 2009} → {"key": "f7", "title": "Up", "year": 2009}
                row[name] = {KEY: value[KEY]} if KEY in value else {}
                row[name].update(sorted(value.items()))

    # A stable sort by each column, the first one last: most columns are text, which needs no key of its own.
    columns = list(rows[0]) if rows else []
    for name in reversed(columns):
        if all(row[name].__class__ is str for row in rows):
            rows.sort(key=itemgetter(name))
        else:
            rows.sort(key=partial(_order, name))
    return rows


def _order(column: str, row: Row) -> tuple[int, Any, str]:
    """Return a sort key of a row: missing values, then `value_order`, then maps and lists by their key or text."""
    value = row[column]
    if isinstance(value, dict):
        return (3, str(value.get(KEY, "")), str(value))
    if value is None:
        return (-1, "", "")
    if isinstance(value, str | int | float):
        return (*value_order(value), str(value))  # the text tells 1 from 1.0, and 0.0 from -0.0
    return (3, "", str(value))


def rows_needed(agent: AgentConfig, page: int) -> int:
    """Return the number of rows to read for this page: all, unless calls have a timeout and results have pages."""
    if agent.result_tokens is None or agent.call_seconds is None:
        return _ALL_ROWS
    return max(MOST_ROWS, page * PAGE_ROWS + 1)


def page_of(rows: list[Row], page: int, agent: AgentConfig, *, total: int | None) -> tuple[list[Row], list[str]]:
    """Return the rows of one page, and notes about the others: long values are cut, and no page exceeds its tokens.

    `total`: number of rows, of which some may be missing here, None if unknown.
    Raise ToolMistake "bad_arguments" for a page that does not exist.
    """
    tokens = agent.result_tokens
    if tokens is None:
        return rows, []
    if len(rows) == 1:
        longest = tokens * CHARACTERS_PER_TOKEN  # it may fill the page
    else:
        longest = max(SHORTEST, tokens // VALUE_PART)
    until = page if page > 0 else None
    readable, starts, ended = _lay_out(rows, longest, tokens, agent.encoding, until)
    if not 1 <= page <= len(starts):
        raise ToolMistake("bad_arguments", "bad_page", page=page, rows=total or len(rows), pages=len(starts))

    # Pages begin at the rows [0, 20, 40]: the second one has the rows 20 to 39.
    first = starts[page - 1]
    last = starts[page] if page < len(starts) else len(readable)
    visible = readable[first:last]

    notes = []
    is_complete = ended and total == len(rows)
    if len(starts) > 1 or not is_complete:
        pages = len(starts) if is_complete else None
        values = {"page": page, "pages": pages, "first": first + 1, "last": last, "rows": total, "least": len(rows)}
        notes.append(agent.texts.message("page", **values))
    if visible != rows[first:last]:
        notes.append(agent.texts.message("values_cut", most=longest))
    return visible, notes


def _lay_out(
    rows: Sequence[Row], longest: int, most: int, encoding: str, last: int | None
) -> tuple[list[Row], list[int], bool]:
    """Return rows as they are shown up to the page `last`, where pages begin, and True if there are no further pages.

    `most`: tokens of a page. Counting the tokens of a thousand rows takes longer than the query.
    """
    readable: list[Row] = []
    starts: list[int] = []
    left_rows = 0
    left_tokens = 0
    for number, row in enumerate(rows):
        short, tokens = _readable(row, longest, most, encoding)
        if not starts or left_rows == 0 or tokens > left_tokens:
            if len(starts) == last:
                return readable, starts, False
            starts.append(number)
            left_rows = PAGE_ROWS
            left_tokens = most
        left_rows -= 1
        left_tokens -= tokens
        readable.append(short)
    return readable, starts or [0], True


def _readable(row: Row, longest: int, most: int, encoding: str) -> tuple[Row, int]:
    """Return the row, cut to fit a page of `most` tokens, and its tokens."""
    while True:
        short = _cut(row, longest)
        tokens = count_tokens(encode_result([short], (), encoding))  # column names count with every row
        if longest <= SHORTEST or tokens <= most:
            return short, tokens
        longest = max(SHORTEST, longest // 2)


def _cut(value: Any, most: int) -> Any:
    """Return the value with texts and lists of more than `most` characters cut and their length added."""
    if isinstance(value, str) and len(value) > most:
        return f"{value[:most]}… ({len(value):,} characters)"
    if isinstance(value, dict):
        return {name: _cut(item, most) for name, item in value.items()}
    if not isinstance(value, list):
        return value
    room = most
    items: list[Any] = []
    for item in value:
        room -= len(json.dumps(item, ensure_ascii=False, default=str)) + 2
        if room < 0 and items:
            return [*items, f"… ({len(value):,} in all)"]
        items.append(_cut(item, most))
    return items
