"""What the tools of an episode gave back: the rows of every call, its pages put together."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from graphwalk.scoring.values import parse_json
from graphwalk.toolbox.encodings import decode_notes, read_rows
from graphwalk.toolbox.readings import other_readings
from graphwalk.types.episode import ToolResult
from graphwalk.types.values import Row, Value, shown

_FIRST = 1
"""The number of the first page."""


@dataclass
class View:
    """One call and what it showed: `pages` by number, `found` rows in all, on whatever pages.

    `retried`: nothing had the value as it was given, and another reading of it was looked up.
    """

    tool: str
    arguments: dict[str, Any]
    found: int
    pages: dict[int, list[Row]] = field(default_factory=dict)
    retried: bool = False

    @property
    def rows(self) -> Iterator[Row]:
        return (row for rows in self.pages.values() for row in rows)

    @property
    def whole(self) -> bool:
        """True where every row that there is was shown."""
        return sum(map(len, self.pages.values())) == self.found

    def text(self, name: str) -> str | None:
        """An argument that is text; None where there is no such thing."""
        value = self.arguments.get(name)
        return value if isinstance(value, str) else None

    def value(self, name: str) -> Value | None:
        """An argument that is a value, as it was looked up."""
        value = self.arguments.get(name)
        if not isinstance(value, str | int | float):
            return None
        return cast("Value", shown(next(other_readings(value), value))) if self.retried else value

    def rows_from_first_page(self) -> Iterator[Row]:
        """Those before the first page that was not asked for."""
        number = _FIRST
        while number in self.pages:
            yield from self.pages[number]
            number += 1


def views_of(results: Iterable[ToolResult]) -> Iterator[View]:
    """Every different call whose result is rows. Mistakes, notes and other texts are none."""
    views: dict[tuple[str, str], View] = {}
    for result in results:
        rows = shown_rows(result)
        if rows is None:
            continue
        arguments = parse_json(result.call.arguments)
        arguments = arguments if isinstance(arguments, dict) else {}
        page = arguments.pop("page", _FIRST)
        key = result.call.name, json.dumps(arguments, sort_keys=True)
        view = views.setdefault(key, View(result.call.name, arguments, result.rows or 0))
        view.pages[page if isinstance(page, int) else _FIRST] = rows
        view.retried = _retried(result, rows)
    yield from views.values()


def shown_rows(result: ToolResult) -> list[Row] | None:
    """The rows of a result in any encoding; None where it is something else."""
    if result.error is not None or result.rows is None:
        return None
    return read_rows(result.content)


def _retried(result: ToolResult, rows: list[Row]) -> bool:
    """A result has one note where it is empty, one where it is a page, and one more for another reading."""
    expected = int(not result.rows) + int(len(rows) != result.rows)
    return len(decode_notes(result.content)) > expected
