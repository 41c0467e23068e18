"""The report as JSON, CSV and Markdown. Text in it is inert: a spreadsheet, browser or terminal does not act on it."""

import csv
import io
import json
import re
from collections.abc import Iterator
from typing import Any

from graphwalk.report.declared import Report, ReportRow
from graphwalk.report.layout import Cell, TextTable
from graphwalk.report.rows import ESTIMATED
from graphwalk.report.tables import text_tables
from graphwalk.types.inert import visible

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "|", "%")
_MARKDOWN = re.compile(r"([\\`*_\[\]<>&|!#~$])")


def to_json(report: Report) -> str:
    """One JSON object, ASCII only; `rows` has one object per model and setting."""
    return json.dumps(report.as_dict(), indent=2, allow_nan=False)


def to_csv(report: Report) -> str:
    """All rows of all tables; `table` and `group` say which. `NAME_low` and `NAME_high` are intervals.

    `note`: why intervals are missing; of published rows what to know about them; of rows `note` a note on the report.
    """
    names, intervals = _columns(report)
    ends = [f"{name}_{end}" for name in intervals for end in ("low", "high")]
    stream = io.StringIO()
    writer = csv.DictWriter(stream, ["table", "group", *names, *ends], extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for table, group, row in _all_rows(report):
        reasons = dict.fromkeys(row.get("no_interval", {}).values())
        flat = {"table": table, "group": group, **({"note": "; ".join(reasons)} if reasons else {}), **row}
        for name, (low, high) in row.get("intervals", {}).items():
            flat |= {f"{name}_low": low, f"{name}_high": high}
        writer.writerow({name: csv_cell(value) for name, value in flat.items()})
    return stream.getvalue()


def _columns(report: Report) -> tuple[list[str], list[str]]:
    """Names of all columns, and of those with an interval: the measures, and what derived and published rows add."""
    measures = report.suite.measures
    names = dict.fromkeys(["model", "setting", "tasks", "graphs", *(measure.name for measure in measures)])
    intervals = dict.fromkeys(m.name for m in measures if m.kind in ESTIMATED)
    for table, _, row in _all_rows(report):
        own = {table.removeprefix("paper ").removeprefix("baseline "), "intervals", "no_interval", "known"}
        names |= dict.fromkeys(name for name in row if name not in own)
        intervals |= dict.fromkeys(row.get("intervals", ()))
    return list({**names, "note": None}), list(intervals)


def _all_rows(report: Report) -> Iterator[tuple[str, Any, ReportRow]]:
    yield from (("all", "", row) for row in report.rows)
    yield from (("baseline", "", row) for row in report.baselines)
    for name, rows in report.groups.items():
        yield from ((name, row[name], row) for row in rows)
    for name, rows in report.baseline_groups.items():
        yield from ((f"baseline {name}", row[name], row) for row in rows)
    if report.reference:
        yield from (("paper", "", row) for row in report.reference.rows)
        for name, published in report.reference.groups.items():
            yield from ((f"paper {name}", row[name], row) for row in published)
        yield from (("paper note", "", {"note": note}) for note in report.reference.notes)
    yield from (("note", "", {"note": note}) for note in report.notes)


def csv_cell(value: Any) -> Any:
    """Numbers as they are; a text that a spreadsheet would run gets an apostrophe in front."""
    if not isinstance(value, str):
        return value
    text = visible(value)
    return f"'{text}" if is_formula(text) else text


def is_formula(text: str) -> bool:
    """True for a text that a spreadsheet would run."""
    return text.startswith(_FORMULA) or text.lstrip().startswith(_FORMULA)


def to_markdown(report: Report) -> str:
    """GitHub tables, with intervals in parentheses."""
    parts = [markdown_table(table) for table in text_tables(report)]
    first = [f"**{markdown_text(report.incomplete)}**\n"] if report.incomplete else []
    return "\n".join([*first, *parts, *(f"* {markdown_text(note)}" for note in report.notes), ""])


def markdown_table(table: TextTable) -> str:
    lines = [
        f"### {markdown_text(table.title)}",
        "",
        _line([markdown_text(header.title.replace("\n", " ")) for header in table.headers]),
        _line(["---" if header.name else "---:" for header in table.headers]),
        *(_line([_markdown_cell(cell) for cell in row]) for row in table.rows),
        "",
    ]
    return "\n".join([*lines, table.note, ""] if table.note else lines)


def _markdown_cell(cell: Cell) -> str:
    text = markdown_text(cell.text)
    return f"{text} ({cell.interval})" if cell.interval else text


def markdown_text(text: str) -> str:
    """Text in which nothing is markup."""
    return _MARKDOWN.sub(r"\\\1", text)


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
