"""The tables of reports and comparisons."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from graphwalk.reports.suite_report import BASELINE, PLAYER, SIDES, Grouping, ReportRow, layout
from graphwalk.reports.text_table import Column, TextTable, signed, table_of, two_decimals
from graphwalk.reports.verdict import no_significance
from graphwalk.sanitise import one_line

if TYPE_CHECKING:
    from graphwalk.reports.report import Report


def text_tables(report: "Report") -> Iterator[TextTable]:
    """Yield the tables overall, model against model, and by group; without empty tables."""
    published = report.published
    source = " ".join([published.explanation, *published.notes])
    rows = [*report.rows, *report.baselines, *_mark_published(published.rows)]
    yield _table(report, "Results", report.suite.columns, rows, note=source)
    if report.comparisons:
        yield comparison_table(report.comparisons, report.suite.compared)
    if report.memorisation_test:
        yield comparison_table(report.memorisation_test, report.suite.compared, "Memorisation test (graph − copy)")
    for grouping in report.suite.groupings:
        groups = {row[grouping.name] for row in report.groups.get(grouping.name, ())}
        same = [row for row in published.groups.get(grouping.name, ()) if row[grouping.name] in groups]
        if len(groups) > 1 or same:
            yield _group_table(report, grouping, same)
    player_tables = {
        "Wrong answers by cause": report.suite.causes,
        **report.suite.player_tables,
        "Answers forced by a limit": layout("shared")["limits"],
    }
    for title, columns in player_tables.items():
        if counted := [column for column in columns if any(row.get(column.field) for row in report.rows)]:
            yield _table(report, title, counted, report.rows)


def _group_table(report: "Report", grouping: Grouping, published: Iterable[ReportRow]) -> TextTable:
    """Return the table of a grouping with the published rows of its groups."""
    name = grouping.name
    rows = [*report.groups[name], *report.baseline_groups.get(name, []), *_mark_published(published)]
    rows.sort(key=lambda row: grouping.sort_key(row[name]))
    title, columns = f"By {grouping.title}", report.suite.group_columns
    return _table(report, title, columns, rows, grouping, note=report.published.explanation)


def _mark_published(rows: Iterable[Mapping[str, Any]]) -> list[ReportRow]:
    return [{**row, "published": True} for row in rows]


def _table(
    report: "Report",
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
    shown = [column for column in columns if _is_known(column, rows)]
    names = PLAYER if not grouping or len({row["setting"] for row in rows} - {BASELINE}) > 1 else PLAYER[:1]
    if grouping:
        names = (Column(grouping.title[:1].upper() + grouping.title[1:], grouping.name, name=True), *names)
        rows = _named_once(rows, grouping.name)
    published = any(row.get("published") for row in rows)
    rows = [
        {**row, "model": one_line(row["model"]) + report.published.mark} if row.get("published") else row
        for row in rows
    ]
    return table_of(title, (*names, *shown), rows, note if published else "", scales=scales)


def _named_once(rows: Sequence[Mapping[str, Any]], field: str) -> list[ReportRow]:
    """Return the rows with an empty `field` if it is that of the row before."""
    before = [None, *(row[field] for row in rows)]
    return [{**row, field: "" if row[field] == last else row[field]} for row, last in zip(rows, before, strict=False)]


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
    rows = [pair_row(pair, measures) | _names(pair) for pair in pairs]
    table = layout("comparisons")
    columns = (
        *_SIDES,
        _difference(measures[0]),
        *(() if note else table["tests"]),
        *table["counts"],
        *map(_difference, measures[1:]),
    )
    return table_of(title, columns, rows, note or "")


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


_SIDES = (Column("First", "first_player", name=True), Column("Second", "second_player", name=True))


def _names(pair: Mapping[str, Any]) -> dict[str, str]:
    return {
        f"{side}_player": f"{one_line(pair[f'{side}_model'])} {one_line(pair[f'{side}_setting'])}" for side in SIDES
    }


def _difference(measure: str) -> Column:
    return Column(f"Δ {measure.replace('_', ' ')}", measure, signed, two_decimals)
