"""Tables of text for terminals and Markdown, and formats of numbers; safe for spreadsheets, browsers and terminals."""

import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from graphwalk.config.templates import render_page
from graphwalk.sanitise import escape_latex, escape_markdown, one_line

UNKNOWN = "–"
"""Text of an unknown value."""
_SPACE = 2
"""Blanks behind a column."""
_NARROWEST_NAME = 24
_MINUS = re.compile(r"(?<![\w.])-(?=\d)")
_PAGE = 110
"""Characters across a page of a paper, without intervals."""
FEWEST_FIGURES = 3
"""Columns of figures that a table has at any width."""


integer = str
one_decimal = "{:.1f}".format
two_decimals = "{:.2f}".format
signed = "{:+.2f}".format


def short(value: Any) -> str:
    """Return a large number in thousands or millions."""
    if value >= 1_000_000:
        return f"{value / 1_000_000:.1f}M"
    return f"{value / 1000:.1f}k" if value >= 10_000 else f"{value:.0f}"


def dollars(value: Any) -> str:
    return f"${value:.4f}" if 0 < value < 1 else f"${value:.2f}"


def duration(seconds: Any) -> str:
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds:.0f} s"


def p_in_digits(p_value: float | str) -> str:
    """Return a p-value with four digits; a text, of a p that is known to fewer digits, stays as it is."""
    if isinstance(p_value, str):
        return p_value
    return "<0.0001" if p_value < 0.0001 else f"{p_value:.4f}"


def wrapped_lines(text: str, width: int) -> list[str]:
    """Return a text in lines of at most `width` characters, broken at blanks and hyphens where that is possible."""
    return textwrap.wrap(text, width) or [text]


def plain(value: Any) -> str:
    """Return a value of a tool result as text."""
    if isinstance(value, Mapping):
        return pairs(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(plain, value))}]"
    return UNKNOWN if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def pairs(values: Mapping[str, Any], sign: str = ": ", between: str = ", ") -> str:
    return between.join(f"{name}{sign}{plain(value)}" for name, value in values.items())


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    `interval` formats the ends of the interval; None: the interval is not shown. `name`: it contains names, not
    numbers. `legend` explains the title. `scale`: the largest value, if a page draws values on their scale.
    """

    title: str
    field: str
    format: Callable[[Any], str] = one_line
    interval: Callable[[Any], str] | None = None
    name: bool = False
    legend: str = ""
    scale: float | None = None

    @property
    def heading(self) -> str:
        """Return the title on one line."""
        return self.title.replace("\n", " ")

    def text(self, row: Mapping[str, Any]) -> str:
        value = row.get(self.field)
        return UNKNOWN if value is None else self.format(value)

    def interval_text(self, row: Mapping[str, Any]) -> str:
        """Return the interval of a value; a dash if it is missing, for the reason in the notes."""
        ends = row.get("intervals", {}).get(self.field)
        if self.interval and ends:
            return (" … " if ends[0] < 0 else "–").join(map(self.interval, ends))
        return UNKNOWN if self.interval and self.field in row.get("no_interval", {}) else ""

    def line(self, row: Mapping[str, Any]) -> str:
        """Return the text with the interval in parentheses."""
        interval = self.interval_text(row)
        return f"{self.text(row)} ({interval})" if interval else self.text(row)


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table in any format: columns, and rows of a report, of which those from a paper are `published`.

    `most`: number of rows that a terminal shows without `--explain`.
    """

    title: str
    columns: tuple[Column, ...]
    rows: Sequence[Mapping[str, Any]]
    note: str = ""
    most: int | None = None

    def lines(self, escape: Callable[[str], str]) -> list[list[str]]:
        """Return headings and rows as escaped texts, with intervals in parentheses."""
        headings = [escape(column.heading) for column in self.columns]
        return [headings, *([escape(column.line(row)) for column in self.columns] for row in self.rows)]


OVER_QUESTIONS = "over the questions of this one graph"


def legend(columns: Iterable[Column]) -> list[str]:
    """Return one note that explains each column, none if there is nothing to explain."""
    texts = dict.fromkeys(f"{column.heading}: {column.legend}." for column in columns if column.legend)
    return [" ".join(texts)] if texts else []


def markdown_table(table: TextTable) -> str:
    head, *rows = table.lines(escape_markdown)
    lines = [head, ["---" if column.name else "---:" for column in table.columns], *rows]
    text = [f"### {escape_markdown(table.title)}", "", *(f"| {' | '.join(line)} |" for line in lines), ""]
    return "\n".join([*text, escape_markdown(table.note), ""] if table.note else text)


def latex_table(table: TextTable, about: str, *, all_columns: bool = False) -> str:
    """Return a table as LaTeX with booktabs, with what fits a page or all of it. `about` is added to its caption."""
    shown = table if all_columns else replace(table, columns=fitting_columns(table, _PAGE))
    lines = shown.lines(lambda text: escape_latex(_MINUS.sub("−", text)))
    caption = escape_latex(". ".join(filter(None, [table.title, about, table.note.rstrip(".")])) + ".")
    align = "".join("l" if column.name else "r" for column in shown.columns)
    return render_page("reports/table.tex.j2", caption=caption, align=align, lines=[" & ".join(line) for line in lines])


def fitting_columns(table: TextTable, width: int) -> tuple[Column, ...]:
    """Return the columns that fit: the last ones are left out first, but never names nor the first figures."""
    columns, rooms = table.columns, [_room(column, table) for column in table.columns]
    while sum(rooms[: len(columns)]) > width + _SPACE and sum(not column.name for column in columns) > FEWEST_FIGURES:
        columns = columns[:-1]
    return columns


def rendered(table: TextTable, columns: Sequence[Column], width: int) -> Table:
    """Return a table as a rich object. Names are wrapped at spaces; figures are not, if the table fits."""
    rooms = [_room(column, table) for column in columns]
    fits = sum(rooms) <= width + _SPACE
    grid = plain_grid(title=Text(table.title, style="bold"), title_justify="left")
    for column, room in zip(columns, rooms, strict=True):
        grid.add_column(
            Text(column.title),
            justify="left" if column.name else "right",
            overflow="fold",
            min_width=room - _SPACE if fits else None,
        )
    for row in table.rows:
        style = "dim" if row.get("published") else ""
        texts = [(Text(column.text(row), style=style), column.interval_text(row)) for column in columns]
        grid.add_row(*(text.append(f"\n{interval}", style="dim") if interval else text for text, interval in texts))
    return grid


def _room(column: Column, table: TextTable) -> int:
    """Return the smallest width of a column with its space: of its longest line, or of the longest word of names."""
    texts = [column.title, *(f"{column.text(row)}\n{column.interval_text(row)}" for row in table.rows)]
    lines = "\n".join(texts).split("\n")
    widest = max(map(cell_len, lines))
    if not column.name:
        return widest + _SPACE
    longest_word = max((cell_len(word) for line in lines for word in line.split()), default=0)
    return max(longest_word, min(widest, _NARROWEST_NAME)) + _SPACE


def plain_grid(**how: Any) -> Table:
    """Return an empty table with a line below its header, and no other."""
    return Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), **how)
