"""Reports and comparisons on a terminal, and as JSON, CSV and Markdown."""

import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from graphwalk.reports.compare import RunComparison
from graphwalk.reports.suite_report import ESTIMATED, Reference, Report, ReportRow
from graphwalk.reports.tables import comparison_tables, text_tables
from graphwalk.reports.text_table import csv_text, fitting_columns, legend, markdown_table, notebook_table, rendered
from graphwalk.sanitise import escape_markdown, escape_markup, one_line
from graphwalk.types.episode import SCHEMA_VERSION


def to_json(report: Report) -> str:
    """Return one JSON object, ASCII only. `rows` has one object per model and setting."""
    return json.dumps(report.as_dict(), indent=2, allow_nan=False)


def to_csv(report: Report) -> str:
    """Return all rows of all tables as CSV. `NAME_low` and `NAME_high` are the ends of intervals.

    `table` and `group` identify the table and group of a row. `note` is the reason for missing intervals, or a note.
    """
    measures = report.suite.measures
    names = dict.fromkeys(["model", "setting", "tasks", "graphs", *(measure.name for measure in measures)])
    ends = dict.fromkeys(f"{m.name}_{end}" for m in measures if m.kind in ESTIMATED for end in ("low", "high"))
    lines: list[dict[str, Any]] = []
    for table, group, row in _all_rows(report):
        own = {table.removeprefix("paper ").removeprefix("baseline "), "intervals", "no_interval", "known"}
        names |= dict.fromkeys(name for name in row if name not in own)
        note = "; ".join(dict.fromkeys(row.get("no_interval", {}).values()))
        lines.append({"table": table, "group": group, "note": note, **row})
        for name, (low, high) in row.get("intervals", {}).items():
            lines[-1] |= {f"{name}_low": low, f"{name}_high": high}
            ends |= dict.fromkeys((f"{name}_low", f"{name}_high"))
    columns = dict.fromkeys(["table", "group", *names, "note", *ends])
    return csv_text(columns, ([line.get(name, "") for name in columns] for line in lines))


def _all_rows(report: Report) -> Iterator[tuple[str, Any, ReportRow]]:
    yield from (("all", "", row) for row in report.rows)
    yield from (("baseline", "", row) for row in report.baselines)
    reference = report.reference or Reference("")
    for kind, groups in (("", report.groups), ("baseline ", report.baseline_groups)):
        yield from ((f"{kind}{name}", row[name], row) for name, rows in groups.items() for row in rows)
    yield from (("paper", "", row) for row in reference.rows)
    yield from ((f"paper {name}", row[name], row) for name, rows in reference.groups.items() for row in rows)
    yield from (("paper note", "", {"note": note}) for note in reference.notes)
    yield from (("note", "", {"note": note}) for note in report.notes)


def to_markdown(report: Report) -> str:
    """Return GitHub tables, with intervals in parentheses."""
    tables = list(text_tables(report))
    parts = [markdown_table(table) for table in tables]
    notes = [*legend(header for table in tables for header in table.headers), *report.notes]
    first = [f"**{escape_markdown(report.incomplete)}**\n"] if report.incomplete else []
    first += [f"{escape_markdown(sentence)}\n" for sentence in report.verdict]
    return "\n".join([*first, *parts, *(f"* {escape_markdown(note)}" for note in notes), ""])


def to_html(report: Report) -> str:
    """Return the verdict and the tables as HTML for a notebook."""
    sentences = [*filter(None, [report.incomplete]), *report.verdict]
    first = "".join(f"<p>{escape_markup(text)}</p>" for text in sentences)
    return first + "".join(map(notebook_table, text_tables(report)))


@dataclass(frozen=True)
class TerminalReport:
    """A report that fits the terminal, without the optional columns for which there is no room.

    `tables`: maximum number of tables; None: all. There are none if nothing is scored.
    """

    report: Report
    tables: int | None = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.report.incomplete:
            yield Text(one_line(self.report.incomplete, len(self.report.incomplete)) + "\n", style="bold yellow")
        yield from _paragraphs(self.report.verdict)
        heads, report = [], self.report
        is_scored = any(row.get(report.suite.compared[0]) is not None for row in report.rows)
        for table in islice(text_tables(report), self.tables if is_scored or not report.verdict else 0):
            yield from rendered(table, options.max_width)
            heads += [table.headers[number] for number in fitting_columns(table, options.max_width)]
        for note in legend(heads):
            yield Text(note, style="dim")
        for note in self.report.notes:
            yield Text(one_line(note, len(note)), style="dim")


def _paragraphs(sentences: Sequence[str]) -> Iterator[Text]:
    """Yield sentences, a line each, and an empty line after them."""
    if sentences:
        yield Text("\n".join(one_line(sentence, len(sentence)) for sentence in sentences) + "\n")


def as_text(report: Report, *, width: int = 120) -> str:
    """Return the report as plain text, `width` columns wide."""
    stream = io.StringIO()
    Console(file=stream, width=width, color_system=None, highlight=False).print(TerminalReport(report))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()).rstrip() + "\n"


@dataclass(frozen=True)
class TerminalComparison:
    """A comparison that fits the terminal."""

    comparison: RunComparison

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from _paragraphs(self.comparison.verdict)
        for table in comparison_tables(self.comparison):
            yield from rendered(table, options.max_width)
        for note in self.comparison.notes:
            yield Text(note, style="dim")


def comparison_json(comparison: RunComparison) -> str:
    names = ("suite", "verdict", "overall", "groups", "changed", "notes")
    fields = {name: getattr(comparison, name) for name in names}
    return json.dumps({"schema_version": SCHEMA_VERSION, **fields}, indent=2, allow_nan=False)


def comparison_markdown(comparison: RunComparison) -> str:
    verdict = (f"{escape_markdown(sentence)}\n" for sentence in comparison.verdict)
    notes = (f"* {escape_markdown(note)}" for note in comparison.notes)
    return "\n".join([*verdict, *map(markdown_table, comparison_tables(comparison)), *notes, ""])
