"""The break-downs of a report as bars of text, for where there is no browser."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from graphwalk.types.inert import visible

if TYPE_CHECKING:
    from graphwalk.report.declared import Report, ReportRow

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_WIDTH = 24


def bars(report: "Report") -> Iterator[Table]:
    """A table for each break-down: group, model, accuracy as a bar and in percent, episodes."""
    yield _table("", "all", [("", row) for row in report.rows])
    for grouping in report.suite.groupings:
        rows = report.groups.get(grouping.name, [])
        if grouping.shown and rows:
            yield _table(grouping.title, grouping.name, [(str(row[grouping.name]), row) for row in rows])


def _table(title: str, name: str, rows: "list[tuple[str, ReportRow]]") -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    if title:
        table.title, table.title_justify = Text(visible(title), style="bold"), "left"
    last = None
    for group, row in rows:
        accuracy = row.get("accuracy")
        first = "" if group == last else visible(group)
        last = group
        bar = Text("–" if accuracy is None else _bar(accuracy / 100), style="cyan")
        figure = Text("–" if accuracy is None else f"{accuracy:.1f}", justify="right")
        player = Text(f"{visible(row['model'])} {visible(row['setting'])}", overflow="fold")
        table.add_row(Text(first), player, bar, figure)
    return table


def _bar(share: float) -> str:
    """So many of the columns, in eighths; what is more than nothing can be seen."""
    eighths = max(round(share * _WIDTH * 8), 1 if share > 0 else 0)
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + (_EIGHTHS[rest] if rest else "")).ljust(_WIDTH, "·")
