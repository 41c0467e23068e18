"""Pages of a result: long values are cut, and no page exceeds its token limit."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from graphwalk.config.agent import AgentConfig
from graphwalk.encodings import encode_result
from graphwalk.models.tokens import count_tokens
from graphwalk.tools.messages import ToolMistake
from graphwalk.types.values import Row

SHORTEST = 40
"""Characters that are left of a value where a single row is longer than a page."""
CHARACTERS_PER_TOKEN = 2
"""Of a text that nobody has seen: few, so that a value shown whole fits a page."""


@dataclass(frozen=True, slots=True)
class Shown:
    """Rows to show, and notes about the others."""

    rows: list[Row]
    notes: list[str]


def rows_needed(agent: AgentConfig, page: int) -> int | None:
    """Return the number of rows to read for this page; None: all."""
    if agent.fetched_rows is None:
        return None
    return max(agent.fetched_rows, page * (agent.result_budget or agent.fetched_rows) + 1)


def page_of(rows: list[Row], page: int, agent: AgentConfig, *, total: int | None, complete: bool) -> Shown:
    """Return one page. `total`: number of rows, None if unknown; `complete`: `rows` are all of them.

    ToolMistake "bad_arguments" for a page that does not exist.
    """
    laid = _lay_out(rows, agent, page if agent.result_tokens is not None and page > 0 else None)
    starts = laid.starts or [0]
    if not 1 <= page <= len(starts):
        raise ToolMistake("bad_arguments", "bad_page", page=page, rows=total or len(rows), pages=len(starts))
    first = starts[page - 1]
    last = starts[page] if page < len(starts) else len(laid.rows)
    notes = []
    if len(starts) > 1 or not (complete and laid.ended):
        pages = len(starts) if complete and laid.ended else None
        known = {"page": page, "pages": pages, "first": first + 1, "last": last, "rows": total, "least": len(rows)}
        notes.append(agent.texts.message("page", **known))
    shown = laid.rows[first:last]
    if any(short != row for short, row in zip(shown, rows[first:last], strict=True)):
        notes.append(agent.texts.message("values_cut", most=_longest(rows, agent)))
    return Shown(shown, notes)


def _longest(rows: Sequence[Row], agent: AgentConfig) -> int | None:
    """Characters of a value that are shown: of the only row of a result as many as a page holds."""
    if agent.value_characters is None or len(rows) > 1:
        return agent.value_characters
    return None if agent.result_tokens is None else agent.result_tokens * CHARACTERS_PER_TOKEN


@dataclass(frozen=True, slots=True)
class _Laid:
    """Rows as they are shown, and where their pages begin. `ended`: there are no further pages."""

    rows: list[Row]
    starts: list[int]
    ended: bool


def _lay_out(rows: Sequence[Row], agent: AgentConfig, last: int | None) -> _Laid:
    """Return the pages up to `last`: counting the tokens of a thousand rows takes longer than the query."""
    longest = _longest(rows, agent)
    readable: list[Row] = []
    starts: list[int] = []
    left_rows = left_tokens = 0
    for number, row in enumerate(rows):
        short, tokens = _readable(row, longest, agent)
        if not starts or left_rows == 0 or tokens > left_tokens:
            if len(starts) == last:
                return _Laid(readable, starts, ended=False)
            starts.append(number)
            left_rows, left_tokens = agent.result_budget or len(rows), agent.result_tokens or 0
        left_rows, left_tokens = left_rows - 1, left_tokens - tokens
        readable.append(short)
    return _Laid(readable, starts, ended=True)


def _readable(row: Row, longest: int | None, agent: AgentConfig) -> tuple[Row, int]:
    """Return the row, cut to fit a page, and its tokens; 0 if tokens are not counted."""
    short = row if longest is None else _cut(row, longest)
    if agent.result_tokens is None:
        return short, 0
    tokens = _tokens(short, agent)
    while longest is not None and longest > SHORTEST and tokens > agent.result_tokens:
        longest = max(SHORTEST, longest // 2)
        short = _cut(row, longest)
        tokens = _tokens(short, agent)
    return short, tokens


def _tokens(row: Row, agent: AgentConfig) -> int:
    """Count the tokens of one row; column names of a table are counted with every row."""
    return count_tokens(encode_result([row], (), agent.encoding))[0]


def _cut(value: Any, most: int) -> Any:
    """Return the value with texts and lists of more than `most` characters cut and their length added."""
    if isinstance(value, str) and len(value) > most:
        return f"{value[:most]}… ({len(value):,} characters)"
    if isinstance(value, dict):
        return {name: _cut(item, most) for name, item in value.items()}
    if isinstance(value, list):
        return _cut_list(value, most)
    return value


def _cut_list(items: list[Any], most: int) -> list[Any]:
    left = most
    kept: list[Any] = []
    for item in items:
        left -= len(json.dumps(item, ensure_ascii=False, default=str)) + 2
        if left < 0 and kept:
            return [*kept, f"… ({len(items):,} in all)"]
        kept.append(_cut(item, most))
    return kept
