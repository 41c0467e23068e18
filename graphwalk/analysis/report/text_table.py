"""Tables of text for terminals and Markdown, and formats of numbers; safe for spreadsheets, browsers and terminals."""

import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from graphwalk.analysis.report.rows import Interval
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
    if value >= 10_000:
        return f"{value / 1000:.1f}k"
    return f"{value:.0f}"


def dollars(value: Any) -> str:
    # Hundredths of a cent matter only below a dollar.
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


def cell_text(value: Any) -> str:
    """Return a value of a tool result as text."""
    if value is None:
        return UNKNOWN
    if isinstance(value, Mapping):
        return pairs(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(cell_text(item) for item in value)}]"
    # True becomes true, as in JSON.
    return str(value).lower() if isinstance(value, bool) else str(value)


def pairs(values: Mapping[str, Any], sign: str = ": ", between: str = ", ") -> str:
    return between.join(f"{name}{sign}{cell_text(value)}" for name, value in values.items())


@dataclass(slots=True)
class TableRow:
    """A row of a table: values, intervals, and reasons for missing intervals, each by the field of its column."""

    values: dict[str, Any]
    intervals: dict[str, Interval] = field(default_factory=dict)
    no_interval: dict[str, str] = field(default_factory=dict)
    is_published: bool = False
    """It is of a paper."""


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

    @property
    def markdown_rule(self) -> str:
        """Return what is below the heading: names are on the left, numbers on the right."""
        return "---" if self.name else "---:"

    @property
    def latex_alignment(self) -> str:
        return "l" if self.name else "r"

    def text(self, row: TableRow) -> str:
        value = row.values.get(self.field)
        return UNKNOWN if value is None else self.format(value)

    def interval_text(self, row: TableRow) -> str:
        """Return the interval of a value; a dash if it is missing, for the reason in the notes."""
        if self.interval is None:
            return ""
        ends = row.intervals.get(self.field)
        if ends is not None:
            # A dash would be read as a minus: -0.5 … 0.2, but 12.1–35.0.
            between = " … " if ends.low < 0 else "–"
            return f"{self.interval(ends.low)}{between}{self.interval(ends.high)}"
        return UNKNOWN if self.field in row.no_interval else ""

    def line(self, row: TableRow) -> str:
        """Return the text with the interval in parentheses."""
        interval = self.interval_text(row)
        return f"{self.text(row)} ({interval})" if interval else self.text(row)


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table in any format.

    `most`: number of rows that a terminal shows without `--notes`.
    """

    title: str
    columns: tuple[Column, ...]
    rows: Sequence[TableRow]
    note: str = ""
    most: int | None = None

    def headings(self, escape: Callable[[str], str]) -> list[str]:
        return [escape(column.heading) for column in self.columns]

    def line(self, row: TableRow, escape: Callable[[str], str]) -> list[str]:
        """Return a row as escaped texts, with intervals in parentheses."""
        return [escape(column.line(row)) for column in self.columns]


OVER_QUESTIONS = "over the questions of this one graph"


def legend(columns: Iterable[Column]) -> list[str]:
    """Return one note that explains each column, none if there is nothing to explain."""
    texts = dict.fromkeys(f"{column.heading}: {column.legend}." for column in columns if column.legend)
    return [" ".join(texts)] if texts else []


def markdown_table(table: TextTable) -> str:
    text = [f"### {escape_markdown(table.title)}", ""]
    text.append(_markdown_line(table.headings(escape_markdown)))
    text.append(_markdown_line(column.markdown_rule for column in table.columns))
    for row in table.rows:
        text.append(_markdown_line(table.line(row, escape_markdown)))
    text.append("")
    if table.note:
        text += [escape_markdown(table.note), ""]
    return "\n".join(text)


def _markdown_line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def latex_table(table: TextTable, about: str, *, all_columns: bool = False) -> str:
    """Return a table as LaTeX with booktabs, with what fits a page or all of it. `about` is added to its caption."""
    shown = table if all_columns else replace(table, columns=fitting_columns(table, _PAGE))
    lines = [" & ".join(shown.headings(_latex_cell))]
    for row in shown.rows:
        lines.append(" & ".join(shown.line(row, _latex_cell)))

    sentences = [text for text in (table.title, about, table.note.rstrip(".")) if text]
    caption = escape_latex(". ".join(sentences) + ".")
    align = "".join(column.latex_alignment for column in shown.columns)
    return render_page("reports/table.tex.j2", caption=caption, align=align, lines=lines)


def _latex_cell(text: str) -> str:
    return escape_latex(_MINUS.sub("−", text))


def fitting_columns(table: TextTable, width: int) -> tuple[Column, ...]:
    """Return the columns that fit: the last ones are left out first, but never names nor the first figures."""
    columns = table.columns
    rooms = [_room(column, table) for column in columns]
    # The last column needs no blanks behind it.
    while sum(rooms[: len(columns)]) > width + _SPACE:
        figures = sum(not column.name for column in columns)
        if figures <= FEWEST_FIGURES:
            break
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
        cells = [_cell(column, row) for column in columns]
        grid.add_row(*cells)
    return grid


def _cell(column: Column, row: TableRow) -> Text:
    """Return a value with its interval below."""
    text = Text(column.text(row), style="dim" if row.is_published else "")
    interval = column.interval_text(row)
    if interval:
        text.append(f"\n{interval}", style="dim")
    return text


def _room(column: Column, table: TextTable) -> int:
    """Return the smallest width of a column with its space: of its longest line, or of the longest word of names."""
    # The title may have two lines: "Calls per\nquestion".
    lines = column.title.split("\n")
    for row in table.rows:
        lines += column.text(row).split("\n")
        lines.append(column.interval_text(row))

    widest = max(cell_len(line) for line in lines)
    if not column.name:
        return widest + _SPACE
    words = " ".join(lines).split()
    longest_word = max((cell_len(word) for word in words), default=0)
    return max(longest_word, min(widest, _NARROWEST_NAME)) + _SPACE


def plain_grid(**how: Any) -> Table:
    """Return an empty table with a line below its header, and no other."""
    return Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), **how)
