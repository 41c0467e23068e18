"""MAGMA's own tables: the paper's layout, steps, free running, intermediate and final states, errors."""

from collections.abc import Iterator
from typing import Any

from graphwalk.report.declared import Column, Report, ReportRow
from graphwalk.report.formats import UNKNOWN, integer, interval_text, one_decimal
from graphwalk.report.layout import Cell, Header, TextTable
from graphwalk.suites.magma.report.matrices import part_table, size_tables, step_tables
from graphwalk.suites.magma.report.relation import relation_tables
from graphwalk.types.inert import visible

_SHADES = "·░▒▓█"


def _shaded(value: Any) -> str:
    """A number with a block as dark as it is large: full from one error per reply."""
    level = 0 if value == 0 else 1 + min(3, int(value * 4))
    return f"{_SHADES[level]} {value:.2f}"


HEAT = (
    Column("no prefix", "missing_prefix_per_reply", _shaded, optional=6),
    Column("missing", "false_negatives_per_reply", _shaded, optional=6),
    Column("halluc.", "hallucinations_per_reply", _shaded, optional=6),
    Column("invalid", "invalid_items_per_reply", _shaded, optional=6),
)
_FREE = (
    Column("dialogues", "dialogues", integer),
    Column("diverged %", "diverged", one_decimal, interval=one_decimal),
    Column("first wrong step", "first_divergence", one_decimal, optional=2, interval=one_decimal),
    Column("% of the trace", "divergence_at", one_decimal, optional=3, interval=one_decimal),
    Column("recovered %", "recovered", one_decimal, optional=1, interval=one_decimal),
    Column("final % | wrong before", "final_if_earlier_wrong", one_decimal, optional=2, interval=one_decimal),
)
_FREE_NOTE = (
    "Diverged: some state is wrong. The other columns are about dialogues that diverged: where first, whether a later"
    " state is right again (of those with a later state), and the final one (of those wrong before it)."
)


def more_tables(report: Report) -> Iterator[TextTable]:
    """Those for which there are figures."""
    groups = report.groups
    yield from size_tables(report)
    yield from step_tables(groups)
    yield from part_table(groups)
    yield from relation_tables(groups)
    free = [row for row in groups.get("case", ()) if row["dialogues"]]
    yield from _table("Free running: divergence and recovery", "case", free, _FREE, _FREE_NOTE)
    yield from _table("Errors per reply", "algorithm", groups.get("algorithm", []), HEAT)


def _table(
    title: str, group: str, rows: list[ReportRow], columns: tuple[Column, ...], note: str = ""
) -> Iterator[TextTable]:
    """One row per group, model and setting."""
    if rows:
        names = (group.replace("case", "algorithm and size"), "model", "setting")
        headers = tuple(Header(name, name=True) for name in names)
        headers += tuple(Header(column.title, optional=column.optional) for column in columns)
        yield TextTable(title, headers, tuple(tuple(_cells(row, group, columns)) for row in rows), note)


def _cells(row: ReportRow, group: str, columns: tuple[Column, ...]) -> Iterator[Cell]:
    for name in (group, "model", "setting"):
        yield Cell(visible(row[name]))
    for column in columns:
        value = row[column.field]
        text = UNKNOWN if value is None else column.format(value)
        yield Cell(text, interval_text(row, column.field, column.interval) if column.interval else "")
