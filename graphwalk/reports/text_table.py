"""Tables of text for terminals and Markdown, and formats of numbers; safe for spreadsheets, browsers and terminals."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from graphwalk.config.jinja import render_page
from graphwalk.sanitise import escape_formula, escape_latex, escape_markdown, one_line

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


def interval_text(row: Mapping[str, Any], field: str, form: Callable[[Any], str]) -> str:
    """Return the interval of a value, or a dash if it is missing; the notes give the reason."""
    ends = row.get("intervals", {}).get(field)
    if not ends:
        return UNKNOWN * (field in row.get("no_interval", {}))
    return (" … " if ends[0] < 0 else "–").join(map(form, ends))


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
        """Return the cell of a row. With a `scale` (its largest value) it has a position on the scale."""
        value, paper = row.get(self.field), bool(row.get("published"))
        text = UNKNOWN if value is None else self.format(value)
        interval = interval_text(row, self.field, self.interval) if self.interval else ""
        if value is None or scale is None or not 0 <= value <= scale:
            return Cell(text, interval, paper)
        low, high = row.get("intervals", {}).get(self.field, (value, value))
        return Cell(text, interval, paper, (low / scale, value / scale, high / scale))


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


def legend(headers: "Iterable[Column]") -> Iterator[str]:
    """Yield a note that explains each head once, if any of them has an explanation."""
    if texts := dict.fromkeys(f"{header.text}: {header.legend}." for header in headers if header.legend):
        yield " ".join(texts)


def without_note(table: TextTable) -> TextTable:
    return replace(table, note="")


def csv_text(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Return CSV: numbers unchanged, texts on one line and escaped for spreadsheets."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([escape_formula(one_line(v)) if isinstance(v, str) else v for v in row] for row in rows)
    return stream.getvalue()


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
    while _width(table) > width and sum(not header.name for header in table.headers) > FEWEST_FIGURES:
        table = replace(table, headers=table.headers[:-1], rows=tuple(row[:-1] for row in table.rows))
    return table


def rendered(table: TextTable, width: int) -> Iterator[Table | Text]:
    """Yield a table as rich objects, and the titles of the columns that do not fit."""
    narrow = fitted(table, width)
    yield _grid(narrow, width)
    if left_out := [header.text for header in table.headers if header not in narrow.headers]:
        yield Text(f"not shown at this width (--format markdown): {', '.join(left_out)}", style="dim")
    yield Text(table.note + "\n" if table.note else "", style="dim")


def _grid(table: TextTable, width: int) -> Table:
    """Return a table whose names are wrapped at spaces, and whose figures are not, if it fits."""
    fits = _width(table) <= width
    grid = plain_grid(title=Text(table.title, style="bold"), title_justify="left")
    for header, least in zip(table.headers, _widths(table), strict=True):
        grid.add_column(
            Text(header.title),
            justify="left" if header.name else "right",
            overflow="fold",
            min_width=least if fits else None,
            no_wrap=fits and not header.name,
        )
    for row in table.rows:
        grid.add_row(*map(_text, row))
    return grid


def plain_grid(**how: Any) -> Table:
    """Return an empty table with a line below its header, and no other."""
    return Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), **how)


def _text(cell: Cell) -> Text:
    text = Text(cell.text, style="dim" if cell.dim else "")
    return text.append(f"\n{cell.interval}", style="dim") if cell.interval else text


def _width(table: TextTable) -> int:
    """Return the width of a table with its names wrapped at spaces."""
    return sum(_widths(table)) + _SPACES_BETWEEN * (len(table.headers) - 1)


def _widths(table: TextTable) -> Iterator[int]:
    """Yield the smallest width of each column: that of its longest line, or of the longest word of names."""
    for number, header in enumerate(table.headers):
        cells = [row[number] for row in table.rows]
        texts = [header.title, *(cell.text for cell in cells), *(cell.interval for cell in cells)]
        widest = max(cell_len(line) for text in texts for line in text.split("\n"))
        longest_word = max((cell_len(word) for text in texts for word in text.split()), default=0)
        yield max(longest_word, min(widest, _NARROWEST_NAME)) if header.name else widest
