"""The report as tables of text, the same for the terminal and for Markdown."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from graphwalk.report.by_heart import by_heart_table
from graphwalk.report.common import TASKS
from graphwalk.report.comparison_table import comparison_table
from graphwalk.report.counts import PAPER
from graphwalk.report.declared import BASELINE, Column, Grouping, Report, ReportRow
from graphwalk.report.formats import UNKNOWN, interval_text, one_decimal
from graphwalk.report.layout import Cell, Header, TextTable
from graphwalk.types.inert import visible

_MOST_PUBLISHED = 24
"""Rows of the paper in one table of a terminal; of more, those of our models only."""


def text_tables(report: Report) -> Iterator[TextTable]:
    """Overall, by group, and model against model; tables without rows are left out."""
    reference = report.reference
    source = " ".join([f"(paper): {reference.source}.", *reference.notes]) if reference else ""
    overall = _published(reference.rows) if reference else []
    yield _table(
        "Results", report.suite.columns, [*report.rows, *report.baselines, *overall], None, _scales(report), source
    )
    if report.known_by_heart:
        yield by_heart_table(report.known_by_heart)
    for grouping in report.suite.groupings:
        rows = report.groups.get(grouping.name, [])
        if grouping.shown and len({row[grouping.name] for row in rows}) > 1:
            yield _group_table(report, grouping, rows)
    yield from report.suite.tables(report)
    if report.comparisons:
        yield comparison_table(report.comparisons, report.suite.compared)


def players_table(report: Report, title: str, columns: Sequence[Column], note: str = "") -> Iterator[TextTable]:
    """More columns of the overall table, for the players that were run; nothing where none of them holds a figure."""
    if any(row.get(column.field) for row in report.rows for column in columns):
        yield _table(title, columns, report.rows, None, _scales(report), note, always_noted=True)


def _group_table(report: Report, grouping: Grouping, rows: Sequence[ReportRow]) -> TextTable:
    """The paper's rows are those for groups that were run here, whichever models it has."""
    name, reference = grouping.name, report.reference
    groups = {row[name] for row in rows}
    published = _published(row for row in reference.groups.get(name, ()) if row[name] in groups) if reference else []
    everything = [*rows, *report.baseline_groups.get(name, []), *published]
    everything.sort(key=lambda row: grouping.sort_key(row[name]))
    source = f"(paper): {reference.source}." if reference else ""
    return _table(
        f"By {grouping.title}",
        report.suite.group_columns,
        everything,
        grouping,
        _scales(report),
        source,
        long_only=_long_only(everything, {row["model"].rpartition("/")[2] for row in rows}),
    )


def _scales(report: Report) -> dict[str, float]:
    """What 100 % is, by the name of every measure that is a share."""
    whole = {"percent": 100.0, "share": 1.0}
    scales = {measure.name: whole[measure.kind] for measure in report.suite.measures if measure.kind in whole}
    return {**scales, "pass_at_k": 100.0, "pass_hat_k": 100.0}


def _published(rows: Iterable[Mapping[str, Any]]) -> list[ReportRow]:
    return [{**row, "published": True} for row in rows]


def _long_only(rows: Sequence[ReportRow], models: set[str]) -> frozenset[int]:
    """Numbers of the paper's rows that a terminal has no room for; providers are ignored when names are compared."""
    published = [number for number, row in enumerate(rows) if row.get("published")]
    if len(published) <= _MOST_PUBLISHED:
        return frozenset()
    return frozenset(number for number in published if rows[number]["model"] not in models)


def _table(
    title: str,
    columns: Iterable[Column],
    rows: list[ReportRow],
    grouping: Grouping | None,
    scales: Mapping[str, float],
    note: str = "",
    *,
    long_only: frozenset[int] = frozenset(),
    always_noted: bool = False,
) -> TextTable:
    shown = [column for column in (*columns, *_pass_columns(rows)) if _tells(column, rows)]
    several = not grouping or len({row["setting"] for row in rows} - {BASELINE}) > 1
    names = [*([grouping.title] if grouping else []), "model", *(["setting"] if several else [])]
    headers = (
        *(Header(name, name=True) for name in names),
        *(Header(column.title, optional=column.optional) for column in shown),
    )
    groups = [row[grouping.name] if grouping else None for row in rows]
    repeated = [bool(grouping) and i > 0 and group == groups[i - 1] for i, group in enumerate(groups)]
    return TextTable(
        title,
        headers,
        tuple(
            (*_names(row, grouping, said, several), *_values(row, shown, scales))
            for row, said in zip(rows, repeated, strict=True)
        ),
        note if always_noted or any(row.get("published") for row in rows) else "",
        long_only,
    )


def _pass_columns(rows: Sequence[ReportRow]) -> Iterator[Column]:
    k = next((row["k"] for row in rows if "k" in row), None)
    if k is not None:
        yield Column(f"pass@{k} %", "pass_at_k", one_decimal, optional=2, interval=one_decimal)
        yield Column(f"pass^{k} %", "pass_hat_k", one_decimal, optional=2, interval=one_decimal)


def _tells(column: Column, rows: Sequence[ReportRow]) -> bool:
    """False where nothing is known; and for `tasks` where every episode is a task of its own."""
    if column == TASKS:
        return any(row.get("tasks") != row.get("questions") for row in rows if not row.get("published"))
    return any(row.get(column.field) is not None for row in rows)


def _names(row: ReportRow, grouping: Grouping | None, repeated: bool, setting: bool) -> Iterator[Cell]:
    """A group is named in its first row only."""
    dim = bool(row.get("published"))
    if grouping:
        yield Cell("" if repeated else visible(row[grouping.name]), dim=dim)
    yield Cell(visible(row["model"]) + (PAPER if dim else ""), dim=dim)
    if setting:
        yield Cell(visible(row["setting"]), dim=dim)


def _values(row: ReportRow, columns: list[Column], scales: Mapping[str, float]) -> Iterator[Cell]:
    for column in columns:
        value = row.get(column.field)
        text = UNKNOWN if value is None else column.format(value)
        interval = interval_text(row, column.field, column.interval) if column.interval else ""
        yield Cell(text, interval, bool(row.get("published")), _drawn(row, column, value, scales))


def _drawn(
    row: ReportRow, column: Column, value: Any, scales: Mapping[str, float]
) -> tuple[float, float, float] | None:
    """Of percentages and shares; published figures and computed ones have a place on the scale, and no interval."""
    scale = scales.get(column.field)
    if value is None or scale is None or not 0 <= value <= scale:
        return None
    low, high = row.get("intervals", {}).get(column.field, (value, value))
    return low / scale, value / scale, high / scale
