"""The break-downs of a report as bars of text, for where there is no browser."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from graphwalk.sanitise import one_line

if TYPE_CHECKING:
    from graphwalk.reports.suite_report import Report, ReportRow

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_WIDTHS = (6, 24)
"""Columns of a bar, at least and at most."""
_BESIDE = 5 + 3 * 2
"""Room for the percentage and between columns."""


def bars(report: "Report", columns: int) -> Iterator[Table]:
    """A table for each break-down: group, model, accuracy as a bar and in percent; none where nothing is judged.

    `columns`: those of the terminal.
    """
    if all(row.get("accuracy") is None for row in report.rows):
        return
    settings = len({row["setting"] for row in report.rows}) > 1
    yield _table("", [("", row) for row in report.rows], columns, settings)
    for grouping in report.suite.groupings:
        rows = report.groups.get(grouping.name, [])
        if grouping.shown and rows:
            yield _table(grouping.title, [(str(row[grouping.name]), row) for row in rows], columns, settings)


def _table(title: str, rows: "list[tuple[str, ReportRow]]", columns: int, settings: bool) -> Table:
    """`settings`: whether players are named with them. Bars are as long as names leave room for."""
    players = [one_line(f"{row['model']} {row['setting']}" if settings else row["model"]) for _, row in rows]
    named = max((cell_len(one_line(group)) for group, _ in rows), default=0) + max(map(cell_len, players), default=0)
    least, most = _WIDTHS
    width = max(least, min(most, columns - named - _BESIDE))
    table = Table.grid(padding=(0, 2, 0, 0))
    for no_wrap in (False, False, True, True):
        table.add_column(overflow="fold", no_wrap=no_wrap)
    if title:
        table.title, table.title_justify = Text(one_line(title), style="bold"), "left"
    last = None
    for (group, row), player in zip(rows, players, strict=True):
        accuracy = row.get("accuracy")
        first = "" if group == last else one_line(group)
        last = group
        bar = Text("–" if accuracy is None else _bar(accuracy / 100, width), style="cyan")
        figure = Text("–" if accuracy is None else f"{accuracy:.1f}", justify="right")
        table.add_row(Text(first), Text(player), bar, figure)
    return table


def _bar(share: float, width: int) -> str:
    """So many of `width` columns, in eighths; what is more than nothing can be seen."""
    eighths = max(round(share * width * 8), 1 if share > 0 else 0)
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + (_EIGHTHS[rest] if rest else "")).ljust(width, "·")
