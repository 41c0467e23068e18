"""Tables of text for terminals and Markdown, and formats of numbers; safe for spreadsheets, browsers and terminals."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from graphwalk.config.jinja import render_page
from graphwalk.sanitise import escape_latex, escape_markdown, one_line

UNKNOWN = "–"
"""Text of an unknown value."""
_SPACES_BETWEEN = 2
_NARROWEST_NAME = 24
_MINUS = re.compile(r"(?<![\w.])-(?=\d)")
_PAGE = 110
"""Characters across a page of a paper, without intervals."""
FEWEST_FIGURES = 3
"""Columns of figures that a table has at any width."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell. `drawn`: low end, value and high end as shares of the scale, if the value has one."""

    text: str
    interval: str = ""
    dim: bool = False
    drawn: tuple[float, float, float] | None = None

    @property
    def line(self) -> str:
        """Return the text with the interval in parentheses."""
        return f"{self.text} ({self.interval})" if self.interval else self.text


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table of text, independent of the output format."""

    title: str
    headers: "tuple[Column, ...]"
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


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


FORMATS: Mapping[str, Callable[[Any], str]] = {
    "integer": integer,
    "one_decimal": one_decimal,
    "two_decimals": two_decimals,
    "signed": signed,
    "short": short,
    "dollars": dollars,
    "duration": duration,
    "p_value": lambda value: "<0.0001" if value < 0.0001 else f"{value:.4f}",
}
"""The formats of columns in templates/reports."""


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
    numbers. `legend` explains the title.
    """

    title: str
    field: str
    format: Callable[[Any], str] = one_line
    interval: Callable[[Any], str] | None = None
    name: bool = False
    legend: str = ""

    @property
    def text(self) -> str:
        """Return the title on one line."""
        return self.title.replace("\n", " ")

    def cell(self, row: Mapping[str, Any], scale: float | None = None) -> Cell:
        """Return the cell of a row. With a `scale` (its largest value) it has a position on the scale.

        A dash is in place of a missing interval; the notes give the reason.
        """
        value, ends = row.get(self.field), row.get("intervals", {}).get(self.field)
        text, interval, drawn = UNKNOWN if value is None else self.format(value), "", None
        if self.interval and ends:
            interval = (" … " if ends[0] < 0 else "–").join(map(self.interval, ends))
        elif self.interval and self.field in row.get("no_interval", {}):
            interval = UNKNOWN
        if value is not None and scale is not None and 0 <= value <= scale:
            low, high = ends or (value, value)
            drawn = low / scale, value / scale, high / scale
        return Cell(text, interval, bool(row.get("published")), drawn)


def table_of(
    title: str,
    columns: Iterable[Column],
    rows: Iterable[Mapping[str, Any]],
    note: str = "",
    *,
    scales: Mapping[str, float] = {},
) -> TextTable:
    """Lay out a cell per row and column. `scales`: largest values by field."""
    columns = tuple(columns)
    cells = tuple(tuple(column.cell(row, scales.get(column.field)) for column in columns) for row in rows)
    return TextTable(title, columns, cells, note)


OVER_QUESTIONS = "over the questions of this one graph"


def legend(headers: "Iterable[Column]") -> list[str]:
    """Return one note that explains each head, none if there is nothing to explain."""
    texts = dict.fromkeys(f"{header.text}: {header.legend}." for header in headers if header.legend)
    return [" ".join(texts)] if texts else []


def markdown_table(table: TextTable) -> str:
    rows = [
        [escape_markdown(header.text) for header in table.headers],
        ["---" if header.name else "---:" for header in table.headers],
        *([escape_markdown(cell.line) for cell in row] for row in table.rows),
    ]
    lines = [f"### {escape_markdown(table.title)}", "", *(f"| {' | '.join(row)} |" for row in rows), ""]
    return "\n".join([*lines, escape_markdown(table.note), ""] if table.note else lines)


def latex_table(table: TextTable, about: str) -> str:
    """Return a table as LaTeX with booktabs, with what fits a page. `about` is added to its caption."""
    narrow = fitted(table, _PAGE)
    lines = [[escape_latex(header.text) for header in narrow.headers]]
    lines += ([escape_latex(_MINUS.sub("−", cell.line)) for cell in row] for row in narrow.rows)
    caption = escape_latex(". ".join(filter(None, [table.title, about, table.note.rstrip(".")])) + ".")
    align = "".join("l" if header.name else "r" for header in narrow.headers)
    return render_page("reports/table.tex.j2", caption=caption, align=align, lines=[*map(" & ".join, lines)])


def fitted(table: TextTable, width: int) -> TextTable:
    """Return what fits: the last columns are left out first, but never names nor the first figures."""
    while table_width(table) > width and sum(not header.name for header in table.headers) > FEWEST_FIGURES:
        table = replace(table, headers=table.headers[:-1], rows=tuple(row[:-1] for row in table.rows))
    return table


def rendered(table: TextTable, width: int) -> Iterator[Table | Text]:
    """Yield a table as rich objects, and the titles of the columns that do not fit.

    Names are wrapped at spaces; figures are not, if the table fits.
    """
    narrow = fitted(table, width)
    fits = table_width(narrow) <= width
    grid = plain_grid(title=Text(table.title, style="bold"), title_justify="left")
    for number, header in enumerate(narrow.headers):
        grid.add_column(
            Text(header.title),
            justify="left" if header.name else "right",
            overflow="fold",
            min_width=_column_width(narrow, number) if fits else None,
            no_wrap=fits and not header.name,
        )
    for row in narrow.rows:
        grid.add_row(*map(_text, row))
    yield grid
    if left_out := [header.text for header in table.headers if header not in narrow.headers]:
        yield Text(f"not shown at this width (--format markdown): {', '.join(left_out)}", style="dim")
    yield Text(table.note + "\n" if table.note else "", style="dim")


def plain_grid(**how: Any) -> Table:
    """Return an empty table with a line below its header, and no other."""
    return Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), **how)


def _text(cell: Cell) -> Text:
    text = Text(cell.text, style="dim" if cell.dim else "")
    return text.append(f"\n{cell.interval}", style="dim") if cell.interval else text


def table_width(table: TextTable) -> int:
    """Return the width of a table with its names wrapped at spaces."""
    columns = len(table.headers)
    return sum(_column_width(table, number) for number in range(columns)) + _SPACES_BETWEEN * (columns - 1)


def _column_width(table: TextTable, number: int) -> int:
    """Return the smallest width of a column: that of its longest line, or of the longest word of names."""
    header, cells = table.headers[number], [row[number] for row in table.rows]
    lines = "\n".join([header.title, *(f"{cell.text}\n{cell.interval}" for cell in cells)]).split("\n")
    widest = max(map(cell_len, lines))
    if not header.name:
        return widest
    longest_word = max((cell_len(word) for line in lines for word in line.split()), default=0)
    return max(longest_word, min(widest, _NARROWEST_NAME))
