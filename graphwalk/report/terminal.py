"""The report on a terminal, for rich's `console.print`; colours, width and NO_COLOR are the console's business."""

from collections.abc import Iterator

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from graphwalk.report.report import Report
from graphwalk.report.tables import Cell, TextTable, text_tables

_PADDING = 3
"""Of one column: a space on each side and the divider."""
_NARROWEST_NAME = 12
"""Names are folded to this width before anything else overflows."""


class TerminalReport:
    """A report that fits itself into the width it is given: optional columns go first, then names are folded."""

    def __init__(self, report: Report) -> None:
        self.report = report

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for table in text_tables(self.report):
            yield from _rendered(table, options.max_width)
        for note in self.report.notes:
            yield Text(note, style="dim")


def _rendered(table: TextTable, width: int) -> Iterator[Table | Text]:
    columns = fitting_columns(table, width)
    shown = Table(title=Text(table.title, style="bold"), title_justify="left", box=box.SIMPLE_HEAD, show_edge=False)
    for number in columns:
        header = table.headers[number]
        shown.add_column(
            Text(header.title),
            justify="left" if header.name else "right",
            overflow="fold",
            no_wrap=not header.name,
        )
    for row in table.rows:
        shown.add_row(*(_text(row[number]) for number in columns))
    yield shown
    left_out = [table.headers[n].title for n in range(len(table.headers)) if n not in columns]
    if left_out:
        yield Text(f"not shown at this width: {', '.join(left_out)}", style="dim")
    yield Text(table.note + "\n" if table.note else "", style="dim")


def _text(cell: Cell) -> Text:
    text = Text(cell.text, style="dim" if cell.dim else "")
    return text.append(f"\n{cell.interval}", style="dim") if cell.interval else text


def fitting_columns(table: TextTable, width: int) -> list[int]:
    """Numbers of the columns to show: optional ones are dropped, the highest first, until the rest has room."""
    columns = list(range(len(table.headers)))
    for level in sorted({header.optional for header in table.headers} - {0}, reverse=True):
        if sum(_width(table, number) for number in columns) <= width:
            break
        columns = [number for number in columns if table.headers[number].optional != level]
    return columns


def _width(table: TextTable, number: int) -> int:
    header = table.headers[number]
    cells = [max(cell_len(row[number].text), cell_len(row[number].interval)) for row in table.rows]
    widest = max([cell_len(header.title), *cells])
    return _PADDING + (min(widest, 2 * _NARROWEST_NAME) if header.name else widest)
