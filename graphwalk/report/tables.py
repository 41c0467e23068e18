"""The report as tables of text, the same for the terminal and for Markdown."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from graphwalk.report.declared import Column, Grouping, Report, ReportRow
from graphwalk.report.formats import UNKNOWN, integer, p_value, two_decimals, visible
from graphwalk.report.layout import Cell, Header, TextTable

PAPER = " (paper)"
_MOST_PUBLISHED = 24
_MOST_COMPARISONS = 28
"""Pairs shown in tables; the JSON form has all."""


def text_tables(report: Report) -> Iterator[TextTable]:
    """Overall, by group, and model against model; tables without rows are left out."""
    reference = report.reference
    published = [{**row, "published": True} for row in reference.rows] if reference else []
    source = f"(paper): {reference.source}" if reference else ""
    yield _table("Results", report.suite.columns, [*report.rows, *report.baselines, *published], None, source)
    for grouping in report.suite.groupings:
        rows = report.groups.get(grouping.name, [])
        if grouping.shown and len({row[grouping.name] for row in rows}) > 1:
            shown = sorted(
                [*rows, *_published(report, grouping)], key=lambda row: grouping.sort_key(row[grouping.name])
            )
            yield _table(f"By {grouping.title}", report.suite.group_columns, shown, grouping)
    yield from report.suite.tables(report)
    if report.comparisons:
        yield _comparison_table(report)


def _published(report: Report, grouping: Grouping) -> list[ReportRow]:
    """The paper's rows for groups and models that were run here.

    If it has none of our models, all its rows, unless they are many. Providers are ignored when names are compared.
    """
    published = report.reference.groups.get(grouping.name, ()) if report.reference else ()
    groups = {row[grouping.name] for row in report.groups.get(grouping.name, [])}
    models = {row["model"].rpartition("/")[2] for row in report.rows}
    rows = [{**row, "published": True} for row in published if row[grouping.name] in groups]
    same_models = [row for row in rows if row["model"] in models]
    return same_models or (rows if len(rows) <= _MOST_PUBLISHED else [])


def _table(
    title: str, columns: Iterable[Column], rows: list[ReportRow], grouping: Grouping | None, note: str = ""
) -> TextTable:
    columns = [column for column in columns if any(row.get(column.field) is not None for row in rows)]
    several = not grouping or len({row["setting"] for row in rows}) > 1
    names = [*([grouping.title] if grouping else []), "model", *(["setting"] if several else [])]
    headers = (
        *(Header(name, name=True) for name in names),
        *(Header(column.title, optional=column.optional) for column in columns),
    )
    groups = [row[grouping.name] if grouping else None for row in rows]
    repeated = [bool(grouping) and i > 0 and group == groups[i - 1] for i, group in enumerate(groups)]
    return TextTable(
        title,
        headers,
        tuple(
            (*_names(row, grouping, said, several), *_values(row, columns))
            for row, said in zip(rows, repeated, strict=True)
        ),
        note if any(row.get("published") for row in rows) else "",
    )


def _names(row: ReportRow, grouping: Grouping | None, repeated: bool, setting: bool) -> Iterator[Cell]:
    """A group is named in its first row only."""
    dim = bool(row.get("published"))
    if grouping:
        yield Cell("" if repeated else visible(row[grouping.name]), dim=dim)
    yield Cell(visible(row["model"]) + (PAPER if dim else ""), dim=dim)
    if setting:
        yield Cell(visible(row["setting"]), dim=dim)


def _values(row: ReportRow, columns: list[Column]) -> Iterator[Cell]:
    for column in columns:
        value = row.get(column.field)
        text = UNKNOWN if value is None else column.format(value)
        yield Cell(text, _interval(row, column), bool(row.get("published")))


def _interval(row: Mapping[str, Any], column: Column) -> str:
    ends = row.get("intervals", {}).get(column.field)
    return "–".join(map(column.interval, ends)) if ends and column.interval else ""


def _comparison_table(report: Report) -> TextTable:
    differences = [f"{name}_difference" for name in report.suite.compared]
    headers = (
        *(Header(title, name=True) for title in ("first", "second")),
        *(Header("tasks"), Header("1st only", optional=2), Header("2nd only", optional=2), Header("McNemar p")),
        *(Header(f"Δ {name}", optional=number) for number, name in enumerate(report.suite.compared)),
    )
    shown = report.comparisons[:_MOST_COMPARISONS]
    left_out = len(report.comparisons) - len(shown)
    return TextTable(
        "Pairwise, on identical tasks (first − second)",
        headers,
        tuple(tuple(_comparison_cells(row, differences)) for row in shown),
        f"{left_out} more pairs in the JSON form" if left_out else "",
    )


def _comparison_cells(row: Mapping[str, Any], differences: list[str]) -> Iterator[Cell]:
    for side in ("first", "second"):
        yield Cell(f"{visible(row[f'{side}_model'])} {visible(row[f'{side}_setting'])}")
    for count in ("questions", "first_only", "second_only"):
        yield Cell(integer(row[count]))
    yield Cell(p_value(row["p_value"]))
    for name in differences:
        interval = row["intervals"].get(name)
        yield Cell(f"{row[name]:+.2f}", " … ".join(map(two_decimals, interval)) if interval else "")
