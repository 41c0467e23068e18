"""MAGMA's own tables: the heat map of errors, and accuracy in the paper's layout."""

from collections.abc import Iterator
from typing import Any

from graphwalk.report.declared import Column, Report, ReportRow
from graphwalk.report.formats import UNKNOWN, one_decimal, visible
from graphwalk.report.layout import Cell, Header, TextTable
from graphwalk.report.tables import PAPER
from graphwalk.suites.magma.generator.traces import ALGORITHMS

_LAYOUT = (
    ("accuracy", "Final state, exact match in %"),
    ("intermediate_exact", "Intermediate states, exact match in %"),
    ("trajectory_exact", "All states, exact match in %"),
)
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


def more_tables(report: Report) -> Iterator[TextTable]:
    """The heat map of errors, and the tables in the paper's layout."""
    rows = report.groups.get("algorithm", [])
    names = tuple(Header(name, name=True) for name in ("algorithm", "model", "setting"))
    if rows:
        headers = (*names, *(Header(column.title) for column in HEAT))
        yield TextTable("Errors per reply", headers, tuple(tuple(_heat_cells(row)) for row in rows))
    yield from _layout_tables(report)


def _heat_cells(row: ReportRow) -> Iterator[Cell]:
    for name in ("algorithm", "model", "setting"):
        yield Cell(visible(row[name]))
    for column in HEAT:
        value = row[column.field]
        yield Cell(UNKNOWN if value is None else column.format(value))


def _layout_tables(report: Report) -> Iterator[TextTable]:
    """Algorithm × strategy × model × size, one table per level of exact match."""
    ours = report.groups.get("case", [])
    groups = {row["case"] for row in ours}
    published = report.reference.groups.get("case", ()) if report.reference else ()
    rows = [*ours, *({**row, "published": True} for row in published if row["case"] in groups)]
    for field, title in _LAYOUT:
        known = [row for row in rows if row.get(field) is not None]
        if known:
            yield _layout(title, field, known, report)


def _layout(title: str, field: str, rows: list[ReportRow], report: Report) -> TextTable:
    lines: dict[tuple[int, str, bool, str], dict[int, ReportRow]] = {}
    for row in rows:
        algorithm, size = row["case"].split()
        key = (ALGORITHMS.index(algorithm), row["setting"], bool(row.get("published")), row["model"])
        lines.setdefault(key, {})[int(size)] = row
    sizes = sorted({size for line in lines.values() for size in line})
    names = tuple(Header(name, name=True) for name in ("algorithm", "setting", "model"))
    headers = (*names, *(Header(str(size), optional=_rank(position)) for position, size in enumerate(sizes)))
    cells = tuple(tuple(_line_cells(key, lines[key], sizes, field)) for key in sorted(lines))
    source = f"(paper): {report.reference.source}" if report.reference else ""
    return TextTable(title, headers, cells, source if any(key[2] for key in lines) else "")


def _rank(position: int) -> int:
    """Where a terminal is narrow every second size goes first, then every second of the rest."""
    return 0 if position % 4 == 0 else 1 if position % 4 == 2 else 2


def _line_cells(
    key: tuple[int, str, bool, str], line: dict[int, ReportRow], sizes: list[int], field: str
) -> Iterator[Cell]:
    algorithm, setting, published, model = key
    yield Cell(ALGORITHMS[algorithm], dim=published)
    yield Cell(setting, dim=published)
    yield Cell(visible(model) + (PAPER if published else ""), dim=published)
    for size in sizes:
        row = line.get(size, {})
        ends = row.get("intervals", {}).get(field)
        text = one_decimal(row[field]) if row else UNKNOWN
        yield Cell(text, "–".join(map(one_decimal, ends)) if ends else "", published)
