"""The report on a terminal, for rich's `console.print`; colours, width and NO_COLOR are the console's business."""

import io
from collections.abc import Iterator
from itertools import islice
from typing import Literal

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from graphwalk.console import counted
from graphwalk.report.comparison_table import PAIRS_NOTE
from graphwalk.report.declared import Report
from graphwalk.report.layout import Cell, TextTable
from graphwalk.report.tables import text_tables
from graphwalk.types.inert import visible

_PADDING = 2
"""Between columns."""
_NARROWEST_NAME = 24
"""Names keep this width, if they need it, as long as there are optional columns to drop."""


class TerminalReport:
    """A report that fits itself into the width it is given: optional columns go first, then names are folded."""

    def __init__(self, report: Report, *, tables: int | None = None) -> None:
        """`tables`: only the first ones, which are not those of pairs; None: all."""
        self.report = report
        self.tables = tables

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.report.incomplete:
            yield Text(self.report.incomplete + "\n", style="bold yellow")
        for table in islice(text_tables(self.report), self.tables):
            yield from rendered(table, options.max_width)
        for note in self.report.notes:
            if self.tables is None or note != PAIRS_NOTE:
                yield Text(visible(note, len(note)), style="dim")


def rendered(table: TextTable, width: int) -> Iterator[Table | Text]:
    columns = fitting_columns(table, width)
    shown = Table(
        title=Text(table.title, style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    for number in columns:
        header = table.headers[number]
        justify: Literal["left", "right"] = "left" if header.name else "right"
        shown.add_column(Text(header.title), justify=justify, overflow="fold", no_wrap=not header.name)
    for row_number, row in enumerate(table.rows):
        if row_number not in table.long_only:
            shown.add_row(*(_text(row[number], interval) for number, interval in columns.items()))
    yield shown
    if table.long_only:
        more = counted(len(table.long_only), "more row")
        yield Text(f"{more} in the Markdown form (and all figures in JSON)", style="dim")
    left_out = [header.title.replace("\n", " ") for number, header in enumerate(table.headers) if number not in columns]
    if left_out:
        yield Text(f"not shown at this width: {', '.join(left_out)}", style="dim")
    yield Text(table.note + "\n" if table.note else "", style="dim")


def _text(cell: Cell, interval: bool) -> Text:
    text = Text(cell.text, style="dim" if cell.dim else "")
    return text.append(f"\n{cell.interval}", style="dim") if interval and cell.interval else text


def fitting_columns(table: TextTable, width: int) -> dict[int, bool]:
    """Number of each column to show → whether its intervals are shown.

    Until the rest has room, optional columns lose first their intervals, then their place; the highest level first.
    """
    columns = dict.fromkeys(range(len(table.headers)), True)
    for level in sorted({header.optional for header in table.headers} - {0}, reverse=True):
        members = [number for number, header in enumerate(table.headers) if header.optional == level]
        if _total_width(table, columns) > width:
            columns |= dict.fromkeys(members, False)
        if _total_width(table, columns) > width:
            columns = {number: interval for number, interval in columns.items() if number not in members}
    return columns


def _total_width(table: TextTable, columns: dict[int, bool]) -> int:
    return sum(_PADDING + _width(table, number, interval) for number, interval in columns.items()) - _PADDING


def _width(table: TextTable, number: int, interval: bool) -> int:
    header = table.headers[number]
    cells = [row[number] for row in table.rows]
    texts = [*header.title.split("\n"), *(cell.text for cell in cells), *(cell.interval for cell in cells if interval)]
    widest = max(map(cell_len, texts))
    return min(widest, _NARROWEST_NAME) if header.name else widest


def as_text(report: Report, *, width: int = 120) -> str:
    """The report as plain text of so many columns."""
    stream = io.StringIO()
    Console(file=stream, width=width, color_system=None, highlight=False).print(TerminalReport(report))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()).rstrip() + "\n"
