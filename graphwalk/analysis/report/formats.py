"""Reports and comparisons as tables: on a terminal, and as JSON, CSV, LaTeX and Markdown, and in notebooks."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from graphwalk.analysis.report.columns import LIMITS, PAIRS
from graphwalk.analysis.report.compare import RunComparison
from graphwalk.analysis.report.names import player_names
from graphwalk.analysis.report.report import Report
from graphwalk.analysis.report.suite_report import (
    ACCURACY,
    BASELINE,
    ESTIMATED,
    MARK,
    PERCENT,
    SIDES,
    Grouping,
    ReportRow,
)
from graphwalk.analysis.report.text_table import (
    Column,
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
_MOST_PLAYERS_ACROSS = 6
"""Players that have a column each in the tables by group; more have a row each."""
_COLUMN_CHARACTERS = 16
_PLAYER = (Column("Model", "model", name=True), Column("Setting", "setting", name=True))
Printed = Report | RunComparison
"""A verdict, tables and notes, which are printed in one layout."""


def text_tables(report: Printed) -> Iterator[TextTable]:
    """Yield the tables overall, model against model, and by group; without empty tables, none if nothing is scored."""
    if isinstance(report, RunComparison):
        if report.overall:
            yield comparison_table(report.overall, report.measures)
        if report.split:
            grouping, pairs = report.split
            yield comparison_table(pairs, report.measures, f"Pairwise differences by {grouping.title}", grouping)
        return
    if all(row[ACCURACY] is None for row in report.rows):
        return
    suite, reference = report.suite, report.reference
    note = f"{MARK.strip()}: {reference.source}; its number of graphs may be another."
    columns, group_columns = suite.columns, suite.group_columns
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
        is_published = any(row.get("published") for row in rows)
        if len({row[grouping.name] for row in rows}) < 2 and not is_published:
            continue
        is_one_row = suite.one_row_per_group and len(report.rows) <= _MOST_PLAYERS_ACROSS
        if is_one_row and not report.follows_paper:
            yield _players_across(report, grouping, rows)
        else:
            yield _table(report, f"By {grouping.title}", group_columns, rows, grouping, note=note)
    player_tables = {
        "Wrong answers by cause": suite.causes,
        **suite.player_tables,
        "Answers forced by a limit": LIMITS,
    }
    for title, columns in player_tables.items():
        if counts := [column for column in columns if any(row.get(column.field) for row in report.rows)]:
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
    """Lay out rows, without unknown columns, `tasks` if every episode is one, and failures if there are none.

    `note` is shown if a row is published.
    """
    whole = {"percent": 100.0, "share": 1.0}
    scales = {measure.name: whole[measure.kind] for measure in report.suite.measures if measure.kind in whole}
    fields = {name for row in rows for name, value in row.items() if value is not None}
    if all(row.get("tasks") == row.get("scored") for row in rows if not row.get("published")):
        fields.discard("tasks")
    for failures in ("context_overflows", "infrastructure_failures"):
        if not any(row.get(failures) for row in rows):
            fields.discard(failures)
    shown = [replace(one, scale=scales.get(one.field)) for one in columns if one.field in fields]
    names = _PLAYER if not grouping or len({row["setting"] for row in rows} - {BASELINE}) > 1 else _PLAYER[:1]
    if grouping:
        field = grouping.name
        names = (Column(grouping.title[:1].upper() + grouping.title[1:], field, name=True), *names)
        rows = sorted(rows, key=lambda row: grouping.sort_key(row[field]))
    is_published = any(row.get("published") for row in rows)
    return TextTable(title, (*names, *shown), rows, note if is_published else "")


def _players_across(report: Report, grouping: Grouping, rows: Sequence[ReportRow]) -> TextTable:
    """Lay out the accuracy with a row per group, and a column per player and baseline."""
    accuracy = next(column for column in report.suite.group_columns if column.field == ACCURACY)
    players = list(dict.fromkeys((row["model"], row["setting"]) for row in rows))
    names = player_names([(row["model"], row["setting"]) for row in report.rows])

    columns = [Column(grouping.title[:1].upper() + grouping.title[1:], grouping.name, str, name=True)]
    columns.append(Column("N", "scored", str, legend="tasks of the group, or episodes if they are repeated"))
    for model, setting in players:
        title = model if setting == BASELINE else names[model, setting]
        title = "\n".join(wrapped_lines(title, _COLUMN_CHARACTERS))
        columns.append(Column(title, f"{model} {setting}", accuracy.format, accuracy.interval, scale=100.0))

    by_group: dict[Any, ReportRow] = {}
    for row in sorted(rows, key=lambda row: grouping.sort_key(row[grouping.name])):
        line = by_group.setdefault(
            row[grouping.name],
            {grouping.name: row[grouping.name], "scored": 0, "intervals": {}, "no_interval": {}},
        )
        field = f"{row['model']} {row['setting']}"
        line[field] = row[ACCURACY]
        line["scored"] = max(line["scored"], row["scored"])
        for part in ("intervals", "no_interval"):
            if ACCURACY in row[part]:
                line[part][field] = row[part][ACCURACY]
    shown = [column for column in columns if any(line.get(column.field) is not None for line in by_group.values())]
    return TextTable(f"{accuracy.heading} by {grouping.title}", tuple(shown), list(by_group.values()))


def comparison_table(
    pairs: Sequence[Mapping[str, Any]],
    measures: Sequence[str],
    title: str = "Pairwise differences on identical tasks (first − second)",
    grouping: Grouping | None = None,
) -> TextTable:
    """Lay out the result of `comparisons_of`, or of `comparisons_by` a grouping, with the right answers of both.

    Counts and Holm's p are those of the first measure.
    """
    rows = []
    for pair in pairs:
        names = {side: f"{one_line(pair[f'{side}_model'])} {one_line(pair[f'{side}_setting'])}" for side in SIDES}
        row = pair_row(pair, measures)
        if row["p_exact"] is False:
            # Random assignments tell two digits.
            row["p_holm"] = f"≈{max(row['p_holm'], 0.01):.2f}"
        right = (row["tasks"] * (row[f"{side}_mean"] or 0) / PERCENT for side in SIDES)
        rows.append({**row, **names, "right": " : ".join(f"{number:.4g}" for number in right)})
    sides = [Column(side.capitalize(), side, name=True) for side in SIDES]
    groups = [Column(grouping.title.capitalize(), grouping.name, str, name=True)] if grouping else []
    deltas = [name for name in measures if name == measures[0] or any(row[name] is not None for row in rows)]
    headline, *others = (Column(f"Δ {name.replace('_', ' ')}", name, signed, two_decimals) for name in deltas)
    columns = (*groups, *sides, headline, *PAIRS, *others)
    return TextTable(title, columns, rows, most=None if grouping else _MOST_PAIRS)


def pair_row(pair: Mapping[str, Any], measures: Sequence[str]) -> ReportRow:
    """Return a pair as a row: the differences by measure with `intervals`, the other fields of the first measure."""
    of = pair["measures"]
    return {
        **of[measures[0]],
        **pair,
        **{name: of[name]["difference"] for name in measures},
        "intervals": {name: of[name]["interval"] for name in measures if of[name]["interval"]},
        "no_interval": {name: of[name]["no_interval"] for name in measures if of[name]["difference"] is not None},
    }


def to_json(report: Printed) -> str:
    """Return one JSON object, ASCII only. `rows` of a report has one object per model and setting."""
    return json.dumps(report.as_dict(), indent=2, allow_nan=False)


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
    columns = [name for name in dict.fromkeys(chain.from_iterable(lines)) if name not in hidden]
    stream = io.StringIO()
    writer = csv.DictWriter(stream, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return stream.getvalue()


def _all_rows(report: Report) -> Iterator[tuple[str, Any, ReportRow]]:
    published = report.reference
    for kind, rows, groups in (
        ("", report.rows, report.groups),
        ("baseline ", report.baselines, report.baseline_groups),
        ("paper ", published.rows, published.groups),
    ):
        yield from ((kind.strip() or "all", "", row) for row in rows)
        yield from ((f"{kind}{name}", row[name], row) for name in groups for row in groups[name])
    yield from (("comparison", "", pair_row(pair, report.suite.compared)) for pair in report.comparisons)


def to_markdown(report: Printed, *, tables: int | None = None, explain: bool = False) -> str:
    """Return GitHub tables, with intervals in parentheses. `tables` and `explain`: as for `OnTerminal`."""
    shown = list(islice(text_tables(report), tables))
    notes = [*legend(column for table in shown for column in table.columns), *report.notes] if explain else []
    first = [f"**{escape_markdown(report.incomplete)}**\n"] if report.incomplete else []
    first += [f"{escape_markdown(sentence)}\n" for sentence in report.verdict]
    texts = (markdown_table(table if explain else replace(table, note="")) for table in shown)
    return "\n".join([*first, *texts, *(f"* {escape_markdown(note)}" for note in notes), ""])


def to_latex(report: Report, origin: str, table: str | None = None) -> str:
    """Return all tables for a paper, or that of accuracy with the name `table`: by-size, or by another grouping.

    `origin`: identifies the run, in their captions. Raise ConfigError for an unknown name.
    """
    head = r"% \usepackage{booktabs,graphicx}; letters beyond Latin-1: XeLaTeX or LuaLaTeX"
    tables = text_tables(report) if table is None else [_accuracy_table(report, table)]
    return "\n".join([head, *(latex_table(one, origin, all_columns=bool(table)) for one in tables)])


def _accuracy_table(report: Report, name: str) -> TextTable:
    """Return the headline measure with a row per player and a column per group."""
    groupings = {f"by-{one.name}": one for one in report.suite.groupings if one.name in report.groups}
    if name not in groupings:
        raise ConfigError(
            f"this run has no table {name!r}", hint=f"--table {' or '.join(groupings) or 'is for groups'}"
        )
    grouping = groupings[name]
    rows = report.all_rows(grouping.name)
    accuracy = next(one for one in report.suite.group_columns if one.field == ACCURACY)
    players: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows:
        player = players.setdefault((row["model"], row["setting"]), {"model": row["model"], "setting": row["setting"]})
        player[f"group {row[grouping.name]}"] = accuracy.line(row)
    groups = sorted({row[grouping.name] for row in rows}, key=grouping.sort_key)
    columns = (Column(str(group), f"group {group}") for group in groups)
    title = f"{accuracy.heading} by {grouping.title}, 95 % intervals in parentheses"
    return TextTable(title, (*_PLAYER, *columns), list(players.values()))


@dataclass(frozen=True)
class OnTerminal:
    """A report that fits the terminal.

    `tables`: at most so many; None: all of them. `explain`: with notes on columns, methods
    and sources.
    """

    report: Printed
    tables: int | None = None
    explain: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        report, columns, left_out = self.report, list[Column](), dict[str, None]()
        if report.incomplete:
            yield Text(one_line(report.incomplete, len(report.incomplete)) + "\n", style="bold yellow")
        if report.verdict:
            yield Text("\n".join(one_line(sentence, len(sentence)) for sentence in report.verdict) + "\n")
        for table in islice(text_tables(report), self.tables):
            shown = table if self.explain else replace(table, note="", rows=table.rows[: table.most])
            fitting = fitting_columns(shown, options.max_width)
            yield rendered(shown, fitting, options.max_width)
            yield Text(shown.note + "\n" if shown.note else "", style="dim")
            columns += fitting
            left_out |= dict.fromkeys(column.heading for column in table.columns if column not in fitting)
            if more := len(table.rows) - len(shown.rows):
                left_out[f"{counted(more, 'row')} of {table.title}"] = None
        if left_out:
            yield Text(f"Not shown: {', '.join(left_out)}. Everything: --json; rows and notes: --explain.", style="dim")
        for note in (*legend(columns), *report.notes) if self.explain else ():
            yield Text(one_line(note, len(note)), style="dim")


def as_text(report: Printed, *, width: int = 120, tables: int | None = None, explain: bool = False) -> str:
    """Return the report as plain text, `width` columns wide. `tables`: the first ones only. `explain`: with notes."""
    stream, shown = io.StringIO(), OnTerminal(report, tables, explain)
    # In a notebook, rich would show the text instead of writing it.
    console = Console(file=stream, width=width, color_system=None, highlight=False, force_jupyter=False)
    console.print(shown)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()).rstrip() + "\n"
