"""Reports and comparisons on a terminal, and as JSON, CSV, LaTeX and Markdown, which notebooks show too."""

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from graphwalk.analysis.report.compare import RunComparison
from graphwalk.analysis.report.report import Report
from graphwalk.analysis.report.suite_report import ESTIMATED, ReportRow
from graphwalk.analysis.report.tables import pair_row, text_tables
from graphwalk.analysis.report.text_table import (
    Column,
    TextTable,
    fitting_columns,
    latex_table,
    legend,
    markdown_table,
    rendered,
)
from graphwalk.sanitise import escape_formula, escape_markdown, one_line

Printed = Report | RunComparison
"""A verdict, tables and notes, which are printed in one layout."""


def to_json(report: Printed) -> str:
    """Return one JSON object, ASCII only. `rows` of a report has one object per model and setting."""
    return json.dumps(report.as_dict(), indent=2, allow_nan=False)


def tables_of(report: Printed) -> list[TextTable]:
    """Return the tables of a report or a comparison."""
    return report.tables if isinstance(report, RunComparison) else list(text_tables(report))


def to_csv(report: Report) -> str:
    """Return all rows of all tables, and the comparisons, as CSV. `NAME_low` and `NAME_high` are the ends of intervals.

    `table` and `group` identify the table and group of a row. `note` is the reason for missing intervals. Numbers are
    unchanged, texts are on one line and escaped for spreadsheets.
    """
    estimated = [measure.name for measure in report.suite.measures if measure.kind in ESTIMATED]
    lines: list[dict[str, Any]] = []
    for table, group, row in _all_rows(report):
        note = "; ".join(filter(None, dict.fromkeys(row.get("no_interval", {}).values())))
        line = {"table": table, "group": group, **row, "note": row.get("note", note)}
        line |= dict.fromkeys((f"{name}_{end}" for name in estimated for end in ("low", "high")), "")
        for name, (low, high) in row.get("intervals", {}).items():
            line |= {f"{name}_low": low, f"{name}_high": high}
        lines.append({name: escape_formula(one_line(v)) if isinstance(v, str) else v for name, v in line.items()})
    hidden = {"intervals", "no_interval", "measures", "interval", *(one.name for one in report.suite.groupings)}
    stream = io.StringIO()
    columns = [name for name in dict.fromkeys(chain.from_iterable(lines)) if name not in hidden]
    writer = csv.DictWriter(stream, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return stream.getvalue()


def _all_rows(report: Report) -> Iterator[tuple[str, Any, ReportRow]]:
    published = report.published
    for kind, rows, groups in (
        ("", report.rows, report.groups),
        ("baseline ", report.baselines, report.baseline_groups),
        ("paper ", published.rows, published.groups),
    ):
        yield from ((kind.strip() or "all", "", row) for row in rows)
        yield from ((f"{kind}{name}", row[name], row) for name in groups for row in groups[name])
    yield from (("comparison", "", pair_row(pair, report.suite.compared)) for pair in report.comparisons)


def to_markdown(report: Printed, *, explain: bool = False) -> str:
    """Return GitHub tables, with intervals in parentheses. `explain`: with notes on columns, methods and sources."""
    columns = (column for table in tables_of(report) for column in table.columns)
    notes = [*legend(columns), *report.notes] if explain else []
    first = [f"**{escape_markdown(report.incomplete)}**\n"] if report.incomplete else []
    first += [f"{escape_markdown(sentence)}\n" for sentence in report.verdict]
    tables = (markdown_table(table if explain else replace(table, note="")) for table in tables_of(report))
    return "\n".join([*first, *tables, *(f"* {escape_markdown(note)}" for note in notes), ""])


def to_latex(report: Report, origin: str) -> str:
    """Return all tables for a paper. `origin`: identifies the run, in their captions."""
    head = r"% \usepackage{booktabs,graphicx}; letters beyond Latin-1: XeLaTeX or LuaLaTeX"
    return "\n".join([head, *(latex_table(table, origin) for table in tables_of(report))])


@dataclass(frozen=True)
class OnTerminal:
    """A report that fits the terminal.

    `tables`: at most so many, none if nothing is scored; None: all of them. `explain`: with notes on columns, methods
    and sources.
    """

    report: Printed
    tables: int | None = None
    explain: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        report, columns = self.report, list[Column]()
        if report.incomplete:
            yield _line(report.incomplete, style="bold yellow")
            yield Text()
        if report.verdict:
            yield Text("\n".join(_line(sentence).plain for sentence in report.verdict) + "\n")
        for table in tables_of(report)[: self.tables if report.is_scored or not report.verdict else 0]:
            yield from rendered(table if self.explain else replace(table, note=""), options.max_width)
            columns += fitting_columns(table, options.max_width)
        for note in (*legend(columns), *report.notes) if self.explain else ():
            yield _line(note, style="dim")


def _line(text: str, style: str = "") -> Text:
    return Text(one_line(text, len(text)), style=style)


def as_text(report: Printed, *, width: int = 120, explain: bool = False) -> str:
    """Return the report as plain text, `width` columns wide. `explain`: with its notes."""
    stream = io.StringIO()
    Console(file=stream, width=width, color_system=None, highlight=False).print(OnTerminal(report, explain=explain))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()).rstrip() + "\n"
