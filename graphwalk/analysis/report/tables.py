"""The tables of reports and comparisons."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from graphwalk.analysis.report.report import Report
from graphwalk.analysis.report.suite_report import BASELINE, PLAYER, SIDES, Grouping, ReportRow, layout
from graphwalk.analysis.report.text_table import Column, TextTable, signed, two_decimals
from graphwalk.analysis.report.verdict import no_significance
from graphwalk.sanitise import one_line


def text_tables(report: Report) -> Iterator[TextTable]:
    """Yield the tables overall, model against model, and by group; without empty tables."""
    suite, published = report.suite, [_marked(report, row) for row in report.published.rows]
    source = " ".join([report.published.explanation, *report.published.notes])
    yield _table(report, "Results", suite.columns, [*report.rows, *report.baselines, *published], note=source)
    if report.comparisons:
        yield comparison_table(report.comparisons, suite.compared)
    if report.memorisation_test:
        yield comparison_table(report.memorisation_test, suite.compared, "Memorisation test (graph − copy)")
    for grouping in suite.groupings:
        name = grouping.name
        groups = {row[name] for row in report.groups.get(name, ())}
        of_paper = [_marked(report, row) for row in report.published.groups.get(name, ()) if row[name] in groups]
        if len(groups) > 1 or of_paper:
            rows = [*report.groups[name], *report.baseline_groups.get(name, []), *of_paper]
            title, note = f"By {grouping.title}", report.published.explanation
            yield _table(report, title, suite.group_columns, rows, grouping, note=note)
    player_tables = {
        "Wrong answers by cause": suite.causes,
        **suite.player_tables,
        "Answers forced by a limit": layout("shared")["limits"],
    }
    for title, columns in player_tables.items():
        if counted := [column for column in columns if any(row.get(column.field) for row in report.rows)]:
            yield _table(report, title, counted, report.rows)


def _marked(report: Report, row: ReportRow) -> ReportRow:
    """Return a published row with a mark behind its model."""
    return {**row, "model": one_line(row["model"]) + report.published.mark, "published": True}


def _table(
    report: Report,
    title: str,
    columns: Sequence[Column],
    rows: Sequence[ReportRow],
    grouping: Grouping | None = None,
    *,
    note: str = "",
) -> TextTable:
    """Lay out rows. A group is named in its first row only. `note` is shown if a row is published."""
    whole = {"percent": 100.0, "share": 1.0}
    scales = {measure.name: whole[measure.kind] for measure in report.suite.measures if measure.kind in whole}
    shown = [replace(one, scale=scales.get(one.field)) for one in columns if _is_known(one, rows)]
    names = PLAYER if not grouping or len({row["setting"] for row in rows} - {BASELINE}) > 1 else PLAYER[:1]
    if grouping:
        field = grouping.name
        names = (Column(grouping.title[:1].upper() + grouping.title[1:], field, name=True), *names)
        rows = sorted(rows, key=lambda row: grouping.sort_key(row[field]))
        before = [None, *(row[field] for row in rows)]
        rows = [{**row, field: "" if row[field] == last else row[field]} for row, last in zip(rows, before)]  # noqa: B905
    is_published = any(row.get("published") for row in rows)
    return TextTable(title, (*names, *shown), rows, note if is_published else "")


def _is_known(column: Column, rows: Sequence[ReportRow]) -> bool:
    """Return False if no value is known, and for `tasks` if every episode is a task."""
    if column.field == "tasks":
        return any(row.get("tasks") != row.get("scored") for row in rows if not row.get("published"))
    return any(row.get(column.field) is not None for row in rows)


def comparison_table(
    pairs: Sequence[Mapping[str, Any]],
    measures: Sequence[str],
    title: str = "Pairwise differences on identical tasks (first − second)",
) -> TextTable:
    """Lay out the result of `comparisons_of`.

    Counts and Holm's p are those of the first measure. Without a row that can be significant there is no p.
    """
    note = no_significance(pairs, measures[0])
    rows = []
    for pair in pairs:
        names = {side: f"{one_line(pair[f'{side}_model'])} {one_line(pair[f'{side}_setting'])}" for side in SIDES}
        rows.append({**pair_row(pair, measures), **names})
    table = layout("comparisons")
    sides = (Column("First", "first", name=True), Column("Second", "second", name=True))
    headline, *others = (Column(f"Δ {one.replace('_', ' ')}", one, signed, two_decimals) for one in measures)
    columns = (*sides, headline, *(() if note else table["tests"]), *table["counts"], *others)
    return TextTable(title, columns, rows, note or "")


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
