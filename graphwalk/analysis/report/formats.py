"""Reports and comparisons as tables: on a terminal, and as JSON, CSV, LaTeX and Markdown, and in notebooks."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from graphwalk.analysis.report.columns import LIMITS, PAIRS
from graphwalk.analysis.report.compare import RunComparison
from graphwalk.analysis.report.names import contestant_names
from graphwalk.analysis.report.report import Report
from graphwalk.analysis.report.rows import Contestant, Group, Interval, Pair, ReportRow
from graphwalk.analysis.report.suite_report import (
    ACCURACY,
    BASELINE,
    ESTIMATED,
    MARK,
    PERCENT,
    SIDES,
    Grouping,
)
from graphwalk.analysis.report.text_table import (
    Column,
    TableRow,
    TextTable,
    fitting_columns,
    latex_table,
    legend,
    markdown_table,
    rendered,
    signed,
    two_decimals,
    wrapped_lines,
)
from graphwalk.errors import ConfigError, counted
from graphwalk.sanitise import escape_formula, escape_markdown, one_line

_MOST_PAIRS = 10
_MOST_CONTESTANTS_ACROSS = 6
"""Contestants that have a column each in the tables by group; more have a row each."""
_COLUMN_CHARACTERS = 16
_MODEL = Column("Model", "model", name=True)
_SETTING = Column("Setting", "setting", name=True)
_WHOLE = {"percent": 100.0, "share": 1.0}
"""The largest value of a measure by its kind; the others have none."""
_HIDDEN_IN_CSV = {"intervals", "no_interval", "measures", "interval"}
Printed = Report | RunComparison
"""A verdict, tables and notes, which are printed in one layout."""


def text_tables(report: Printed) -> Iterator[TextTable]:
    """Yield the tables overall, model against model, and by group; without empty tables, none if nothing is scored."""
    if isinstance(report, RunComparison):
        yield from _tables_of_comparison(report)
        return
    if all(row.figures.get(ACCURACY) is None for row in report.rows):
        return

    suite = report.suite
    reference = report.reference
    note = f"{MARK.strip()}: {reference.source}; its number of graphs may be another."
    columns = suite.columns
    group_columns = suite.group_columns
    if report.follows_paper:
        columns = suite.paper_columns or columns
        group_columns = suite.paper_group_columns or group_columns

    yield _table(report, "Results", columns, report.all_rows(), note=" ".join([note, *reference.notes]))
    if report.comparisons:
        yield comparison_table(report.comparisons, suite.compared)
    if report.memorisation_test:
        yield comparison_table(report.memorisation_test, suite.compared, "Memorisation test (graph − copy)")
    for grouping in suite.groupings:
        rows = report.all_rows(grouping.name)
        groups = {row.group for row in rows}
        # A single group has the figures of the table overall.
        if len(groups) < 2 and not any(row.is_published for row in rows):
            continue
        is_one_row = suite.one_row_per_group and len(report.rows) <= _MOST_CONTESTANTS_ACROSS
        if is_one_row and not report.follows_paper:
            yield _contestants_across(report, grouping, rows)
        else:
            yield _table(report, f"By {grouping.title}", group_columns, rows, grouping, note=note)

    yield from _tables_of_counts(report)


def _tables_of_comparison(comparison: RunComparison) -> Iterator[TextTable]:
    if comparison.overall:
        yield comparison_table(comparison.overall, comparison.measures)
    if comparison.split is not None:
        grouping, pairs = comparison.split
        yield comparison_table(pairs, comparison.measures, f"Pairwise differences by {grouping.title}", grouping)


def _tables_of_counts(report: Report) -> Iterator[TextTable]:
    """Yield the tables of causes and the like, with the columns in which something is counted."""
    columns_by_title = {"Wrong answers by cause": report.suite.causes}
    columns_by_title |= report.suite.contestant_tables
    columns_by_title["Answers forced by a limit"] = LIMITS
    counted_fields: set[str] = set()
    for row in report.rows:
        values = row.as_dict(None)
        counted_fields.update(field for field, value in values.items() if value)
    for title, columns in columns_by_title.items():
        counts = [column for column in columns if column.field in counted_fields]
        if counts:
            yield _table(report, title, counts, report.rows)


def _table(
    report: Report,
    title: str,
    columns: Sequence[Column],
    rows: Sequence[ReportRow],
    grouping: Grouping | None = None,
    *,
    note: str = "",
) -> TextTable:
    """Lay out rows. `note` is shown if a row is published."""
    names = [_MODEL, _SETTING]
    if grouping is not None:
        rows = sorted(rows, key=lambda row: grouping.sort_key(row.group))
        names = _name_columns(rows, grouping)
    lines = [_table_row(row, grouping) for row in rows]
    shown = _columns_to_show(report, columns, lines)
    if not any(row.is_published for row in rows):
        note = ""
    return TextTable(title, tuple(names + shown), lines, note)


def _table_row(row: ReportRow, grouping: Grouping | None) -> TableRow:
    values = row.as_dict(None if grouping is None else grouping.name)
    return TableRow(values, dict(row.intervals), dict(row.no_interval), row.is_published)


def _name_columns(rows: Sequence[ReportRow], grouping: Grouping) -> list[Column]:
    """Return the columns of group, model and setting; one setting of all models is not named."""
    names = [_group_column(grouping), _MODEL]
    settings = {row.setting for row in rows if row.setting.name != BASELINE}
    if len(settings) > 1:
        names.append(_SETTING)
    return names


def _group_column(grouping: Grouping, format: Callable[[Any], str] = one_line) -> Column:
    return Column(grouping.title[:1].upper() + grouping.title[1:], grouping.name, format, name=True)


def _columns_to_show(report: Report, columns: Sequence[Column], rows: Sequence[TableRow]) -> list[Column]:
    """Return the columns that tell something, each with its scale.

    Unknown figures are left out, `tasks` if every episode is one, and failures if there are none.
    """
    scale_of: dict[str, float] = {}
    for measure in report.suite.measures:
        if measure.kind in _WHOLE:
            scale_of[measure.name] = _WHOLE[measure.kind]

    hidden = set()
    own_rows = [row for row in rows if not row.is_published]
    if all(row.values.get("tasks") == row.values.get("scored") for row in own_rows):
        hidden.add("tasks")
    for failures in ("context_overflows", "infrastructure_failures"):
        if not any(row.values.get(failures) for row in rows):
            hidden.add(failures)

    shown = []
    for column in columns:
        is_known = any(row.values.get(column.field) is not None for row in rows)
        if is_known and column.field not in hidden:
            shown.append(replace(column, scale=scale_of.get(column.field)))
    return shown


def _contestants_across(report: Report, grouping: Grouping, rows: Sequence[ReportRow]) -> TextTable:
    """Lay out the accuracy with a row per group, and a column per contestant and baseline."""
    accuracy = _accuracy_column(report)
    names = contestant_names([row.contestant for row in report.rows])
    columns = [_group_column(grouping, str)]
    columns.append(Column("N", "scored", str, legend="tasks of the group, or episodes if they are repeated"))
    for contestant in dict.fromkeys(row.contestant for row in rows):
        name = contestant.model if contestant.setting.name == BASELINE else names[contestant]
        title = "\n".join(wrapped_lines(name, _COLUMN_CHARACTERS))
        columns.append(Column(title, str(contestant), accuracy.format, accuracy.interval, scale=100.0))

    # {"size": 100, "scored": 12, "a/one tools": 75.0, "chance baseline": 4.2}
    lines: dict[Group | None, TableRow] = {}
    for row in sorted(rows, key=lambda row: grouping.sort_key(row.group)):
        line = lines.setdefault(row.group, TableRow({grouping.name: row.group, "scored": 0}))
        field = str(row.contestant)
        line.values[field] = row.figures.get(ACCURACY)
        line.values["scored"] = max(line.values["scored"], row.count("scored"))
        if ACCURACY in row.intervals:
            line.intervals[field] = row.intervals[ACCURACY]
        if ACCURACY in row.no_interval:
            line.no_interval[field] = row.no_interval[ACCURACY]

    shown = []
    for column in columns:
        if any(line.values.get(column.field) is not None for line in lines.values()):
            shown.append(column)
    return TextTable(f"{accuracy.heading} by {grouping.title}", tuple(shown), list(lines.values()))


def _accuracy_column(report: Report) -> Column:
    return next(column for column in report.suite.group_columns if column.field == ACCURACY)


def comparison_table(
    pairs: Sequence[Pair],
    measures: Sequence[str],
    title: str = "Pairwise differences on identical tasks (first − second)",
    grouping: Grouping | None = None,
) -> TextTable:
    """Lay out pairs, overall or in the groups of a grouping, with the right answers of both.

    Counts and Holm's p are those of the first measure.
    """
    rows = [_pair_row(pair, measures, grouping) for pair in pairs]
    columns = []
    if grouping is not None:
        columns.append(Column(grouping.title.capitalize(), grouping.name, str, name=True))
    columns += [Column(side.capitalize(), side, name=True) for side in SIDES]

    deltas = []
    for name in measures:
        if name == measures[0] or any(row.values[name] is not None for row in rows):
            deltas.append(Column(f"Δ {name.replace('_', ' ')}", name, signed, two_decimals))
    columns.append(deltas[0])
    columns += PAIRS
    columns += deltas[1:]
    return TextTable(title, tuple(columns), rows, most=None if grouping else _MOST_PAIRS)


def _pair_row(pair: Pair, measures: Sequence[str], grouping: Grouping | None) -> TableRow:
    """Return a pair with the differences by measure, and the counts and p of the first one."""
    headline = pair.measures[measures[0]]
    first_right = headline.tasks * (headline.first_mean or 0) / PERCENT
    second_right = headline.tasks * (headline.second_mean or 0) / PERCENT
    values: dict[str, Any] = {
        "first": f"{one_line(pair.first.model)} {one_line(pair.first.setting)}",
        "second": f"{one_line(pair.second.model)} {one_line(pair.second.setting)}",
        "tasks": headline.tasks,
        "graphs": headline.graphs,
        "right": f"{first_right:.4g} : {second_right:.4g}",
        "first_better": headline.first_better,
        "second_better": headline.second_better,
        "p_holm": headline.p_holm,
    }
    if headline.p_exact is False and headline.p_holm is not None:
        # Random assignments tell two digits.
        values["p_holm"] = f"≈{max(headline.p_holm, 0.01):.2f}"
    if grouping is not None:
        values[grouping.name] = pair.group
    for name in measures:
        values[name] = pair.measures[name].difference
    return TableRow(values, _intervals(pair, measures), _no_intervals(pair, measures))


def _intervals(pair: Pair, measures: Sequence[str]) -> dict[str, Interval]:
    intervals = {}
    for name in measures:
        interval = pair.measures[name].interval
        if interval is not None:
            intervals[name] = interval
    return intervals


def _no_intervals(pair: Pair, measures: Sequence[str]) -> dict[str, str]:
    """Return the reasons for missing intervals of the differences that are known."""
    reasons = {}
    for name in measures:
        measure = pair.measures[name]
        if measure.difference is not None and measure.no_interval:
            reasons[name] = measure.no_interval
    return reasons


def to_json(report: Printed) -> str:
    """Return one JSON object, ASCII only. `rows` of a report has one object per model and setting."""
    return json.dumps(report.as_dict(), indent=2, allow_nan=False)


def to_csv(report: Report) -> str:
    """Return all rows of all tables, and the comparisons, as CSV. `NAME_low` and `NAME_high` are the ends of intervals.

    `table` and `group` identify the table and group of a row. `note` is the reason for missing intervals. Numbers are
    unchanged, texts are on one line and escaped for spreadsheets.
    """
    estimated = [measure.name for measure in report.suite.measures if measure.kind in ESTIMATED]
    lines = list(_csv_lines(report, estimated))
    hidden = _HIDDEN_IN_CSV | {grouping.name for grouping in report.suite.groupings}

    # The columns in the order in which rows have them first.
    columns: dict[str, None] = {}
    for line in lines:
        columns |= dict.fromkeys(line)
    stream = io.StringIO()
    writer = csv.DictWriter(
        stream, [name for name in columns if name not in hidden], extrasaction="ignore", lineterminator="\n"
    )
    writer.writeheader()
    writer.writerows(lines)
    return stream.getvalue()


def _csv_lines(report: Report, estimated: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows overall and by group of contestants, baselines and the paper, and the pairs."""
    reference = report.reference
    of_paper = {grouping: reference.report_rows(grouping) for grouping in reference.groups}
    for kind, rows, groups in (
        ("", report.rows, report.groups),
        ("baseline ", report.baselines, report.baseline_groups),
        ("paper ", reference.report_rows(), of_paper),
    ):
        for row in rows:
            yield _csv_line(kind.strip() or "all", row, None, estimated)
        for grouping, of_groups in groups.items():
            for row in of_groups:
                yield _csv_line(f"{kind}{grouping}", row, grouping, estimated)
    for pair in report.comparisons:
        yield _csv_line_of_pair(pair, report.suite.compared, estimated)


def _csv_line(table: str, row: ReportRow, grouping: str | None, estimated: Sequence[str]) -> dict[str, Any]:
    line: dict[str, Any] = {"table": table, "group": ""}
    if grouping is not None:
        line["group"] = row.group
    line |= row.as_dict(grouping)
    line["note"] = row.note or _reasons(row.no_interval)
    return _escaped(line | _ends(row.intervals, estimated))


def _csv_line_of_pair(pair: Pair, measures: Sequence[str], estimated: Sequence[str]) -> dict[str, Any]:
    """Return the differences by measure, and everything else of the first measure."""
    line: dict[str, Any] = {"table": "comparison", "group": ""}
    line |= pair.measures[measures[0]].as_dict()
    line |= pair.as_dict()
    for name in measures:
        line[name] = pair.measures[name].difference
    line["note"] = _reasons(_no_intervals(pair, measures))
    return _escaped(line | _ends(_intervals(pair, measures), estimated))


def _reasons(no_interval: Mapping[str, str]) -> str:
    # Each reason once.
    return "; ".join(dict.fromkeys(no_interval.values()))


def _ends(intervals: Mapping[str, Interval], estimated: Sequence[str]) -> dict[str, float | str]:
    """Return the ends of all intervals: {"accuracy_low": 20.2, "accuracy_high": 49.7, "f1_low": "", "f1_high": ""}."""
    ends: dict[str, float | str] = {}
    for name in estimated:
        ends[f"{name}_low"] = ""
        ends[f"{name}_high"] = ""
    for name, interval in intervals.items():
        ends[f"{name}_low"] = interval.low
        ends[f"{name}_high"] = interval.high
    return ends


def _escaped(line: Mapping[str, Any]) -> dict[str, Any]:
    escaped = {}
    for name, value in line.items():
        escaped[name] = escape_formula(one_line(value)) if isinstance(value, str) else value
    return escaped


def to_markdown(report: Printed, *, tables: int | None = None, with_notes: bool = False) -> str:
    """Return GitHub tables, with intervals in parentheses. `tables` and `with_notes`: as for `OnTerminal`."""
    shown = list(islice(text_tables(report), tables))
    parts = []
    if report.incomplete:
        parts.append(f"**{escape_markdown(report.incomplete)}**\n")
    for sentence in report.verdict:
        parts.append(f"{escape_markdown(sentence)}\n")
    for table in shown:
        parts.append(markdown_table(table if with_notes else replace(table, note="")))
    if with_notes:
        for note in (*_legend(shown), *report.notes):
            parts.append(f"* {escape_markdown(note)}")
    parts.append("")
    return "\n".join(parts)


def _legend(tables: Sequence[TextTable]) -> list[str]:
    columns: list[Column] = []
    for table in tables:
        columns += table.columns
    return legend(columns)


def to_latex(report: Report, origin: str, table: str | None = None) -> str:
    """Return all tables for a paper, or that of accuracy with the name `table`: by-size, or by another grouping.

    `origin`: identifies the run, in their captions. Raise ConfigError for an unknown name.
    """
    texts = [r"% \usepackage{booktabs,graphicx}; letters beyond Latin-1: XeLaTeX or LuaLaTeX"]
    if table is None:
        texts += [latex_table(one, origin) for one in text_tables(report)]
    else:
        texts.append(latex_table(_accuracy_table(report, table), origin, all_columns=True))
    return "\n".join(texts)


def _accuracy_table(report: Report, name: str) -> TextTable:
    """Return the headline measure with a row per contestant and a column per group."""
    groupings = {
        f"by-{grouping.name}": grouping for grouping in report.suite.groupings if grouping.name in report.groups
    }
    if name not in groupings:
        raise ConfigError(
            f"this run has no table {name!r}", hint=f"--table {' or '.join(groupings) or 'is for groups'}"
        )
    grouping = groupings[name]
    rows = report.all_rows(grouping.name)
    accuracy = _accuracy_column(report)

    # {"model": "a/one", "setting": "tools", "group 100": "75.00 (40.1–93.0)"}
    lines: dict[Contestant, TableRow] = {}
    for row in rows:
        names = {"model": row.model, "setting": str(row.setting)}
        line = lines.setdefault(row.contestant, TableRow(names))
        line.values[f"group {row.group}"] = accuracy.line(_table_row(row, grouping))
    groups = sorted({row.group for row in rows}, key=grouping.sort_key)
    columns = [Column(str(group), f"group {group}") for group in groups]
    title = f"{accuracy.heading} by {grouping.title}, 95 % intervals in parentheses"
    return TextTable(title, (_MODEL, _SETTING, *columns), list(lines.values()))


@dataclass(frozen=True)
class OnTerminal:
    """A report that fits the terminal.

    `tables`: at most so many; None: all of them. `with_notes`: with notes on columns, methods
    and sources.
    """

    report: Printed
    tables: int | None = None
    with_notes: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        report = self.report
        if report.incomplete:
            yield Text(_whole_line(report.incomplete) + "\n", style="bold yellow")
        if report.verdict:
            yield Text("\n".join(_whole_line(sentence) for sentence in report.verdict) + "\n")

        columns: list[Column] = []
        left_out: dict[str, None] = {}
        for table in islice(text_tables(report), self.tables):
            shown = table if self.with_notes else replace(table, note="", rows=table.rows[: table.most])
            fitting = fitting_columns(shown, options.max_width)
            yield rendered(shown, fitting, options.max_width)
            yield Text(shown.note + "\n" if shown.note else "", style="dim")
            columns += fitting
            left_out |= dict.fromkeys(column.heading for column in table.columns if column not in fitting)
            rows_left_out = len(table.rows) - len(shown.rows)
            if rows_left_out:
                left_out[f"{counted(rows_left_out, 'row')} of {table.title}"] = None
        if left_out:
            yield Text(f"Not shown: {', '.join(left_out)}. Everything: --json; rows and notes: --notes.", style="dim")

        if self.with_notes:
            for note in (*legend(columns), *report.notes):
                yield Text(_whole_line(note), style="dim")


def _whole_line(text: str) -> str:
    """Return a text on one line, however long it is."""
    return one_line(text, len(text))


def as_text(report: Printed, *, width: int = 120, tables: int | None = None, with_notes: bool = False) -> str:
    """Return the report as plain text, `width` columns wide. `tables`: the first ones only."""
    stream = io.StringIO()
    # In a notebook, rich would show the text instead of writing it.
    console = Console(file=stream, width=width, color_system=None, highlight=False, force_jupyter=False)
    console.print(OnTerminal(report, tables, with_notes))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()).rstrip() + "\n"
