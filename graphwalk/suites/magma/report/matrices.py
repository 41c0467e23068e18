"""Exact match as a matrix: a line per strategy, model and metric, a column per size, step or part of the trace."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphwalk.report.declared import Groups, Report, ReportRow
from graphwalk.report.formats import UNKNOWN, interval_text, one_decimal
from graphwalk.report.layout import Cell, Header, TextTable
from graphwalk.suites.magma.generator.traces import ALGORITHMS
from graphwalk.types.inert import visible

_METRICS = {"accuracy": "final", "intermediate_exact": "earlier", "trajectory_exact": "all"}
"""In the order of the lines."""
_MOST_PUBLISHED = 2
"""Published lines of a strategy and metric that a terminal shows: those of our models first, then zero-shot ones."""
_MOST_LINES = 24
"""Lines of a table by step that a terminal shows."""
_ZERO_SHOT = "zero-shot"


@dataclass
class _Line:
    """Names, and the row of each column."""

    names: tuple[str, ...]
    metric: str
    published: bool = False
    rows: dict[int, ReportRow] = field(default_factory=dict)


def size_tables(report: Report) -> Iterator[TextTable]:
    """As the paper lays it out: one table per algorithm, with its figures for the sizes and strategies run here."""
    ours = report.groups.get("case", [])
    cases = {row["case"] for row in ours}
    reference = report.reference
    published = [row for row in reference.groups.get("case", ()) if row["case"] in cases] if reference else []
    tables = [table for algorithm in ALGORITHMS for table in _sizes_of(algorithm, ours, published)]
    for number, (table, long_only, with_paper) in enumerate(tables):
        note = f"(paper): {reference.source}" if reference and with_paper else ""
        if reference and with_paper and not any(later[2] for later in tables[number + 1 :]):
            note = " ".join([note + ".", *reference.notes])
        yield TextTable(table.title, table.headers, table.rows, note, long_only)


def _sizes_of(
    algorithm: str, ours: Sequence[ReportRow], published: Sequence[ReportRow]
) -> Iterator[tuple[TextTable, frozenset[int], bool]]:
    """The table, the lines that only long forms have, and whether there are published ones."""
    lines = [*_size_lines(algorithm, ours, False), *_size_lines(algorithm, published, True)]
    if not any(not line.published for line in lines):
        return
    metrics = list(_METRICS)
    lines.sort(key=lambda line: (line.names[0], metrics.index(line.metric), line.published))
    models = {row["model"].rpartition("/")[2] for row in ours}
    names = ("setting", "model", "states")
    table = _matrix(f"{algorithm}: exact match in % by number of nodes", names, lines)
    yield table, frozenset(_beyond(lines, models)), any(line.published for line in lines)


def _size_lines(algorithm: str, rows: Sequence[ReportRow], published: bool) -> Iterator[_Line]:
    for metric, said in _METRICS.items():
        lines: dict[tuple[str, str], _Line] = {}
        for row in rows:
            of, size = row["case"].split()
            if of == algorithm and row.get(metric) is not None:
                model = f"{row['model']} (paper, {row['note']})" if published else row["model"]
                key = row["setting"], row["model"]
                line = lines.setdefault(key, _Line((row["setting"], model, said), metric, published))
                line.rows[int(size)] = row
        yield from lines.values()


def _beyond(lines: Sequence[_Line], models: set[str]) -> Iterator[int]:
    """Numbers of the published lines that a terminal has no room for."""
    sections: dict[tuple[str, str], list[int]] = {}
    for number, line in enumerate(lines):
        if line.published:
            sections.setdefault((line.names[0], line.metric), []).append(number)

    def distance(number: int) -> tuple[bool, bool]:
        row = next(iter(lines[number].rows.values()))
        return row["model"] not in models, row["note"] != _ZERO_SHOT

    for numbers in sections.values():
        yield from sorted(numbers, key=distance)[_MOST_PUBLISHED:]


def step_tables(groups: Groups) -> Iterator[TextTable]:
    """One table per algorithm: a line per size, setting and model, a column per step."""
    note = "Of the traces that have this step. Steps are numbered from 1."
    for algorithm in ALGORITHMS:
        lines: dict[tuple[str, ...], _Line] = {}
        for row in groups.get("step", ()):
            of, size, step = row["step"].split()
            if of == algorithm:
                names = size, row["setting"], row["model"]
                lines.setdefault(names, _Line(names, "step_exact")).rows[int(step)] = row
        if any(len(line.rows) > 1 for line in lines.values()):
            shown = _matrix(
                f"{algorithm}: exact match in % by step", ("nodes", "setting", "model"), list(lines.values())
            )
            long_only = frozenset(range(_MOST_LINES, len(lines)))
            yield TextTable(shown.title, shown.headers, shown.rows, note, long_only)


def part_table(groups: Groups) -> Iterator[TextTable]:
    """A line per algorithm, setting and model; columns are fifths of the traces, whatever their length."""
    lines: dict[tuple[str, ...], _Line] = {}
    for row in groups.get("part", ()):
        algorithm, end = row["part"].split()
        names = algorithm, row["setting"], row["model"]
        lines.setdefault(names, _Line(names, "step_exact")).rows[int(end)] = row
    if any(len(line.rows) > 1 for line in lines.values()):
        table = _matrix(
            "Exact match in % by part of the trace, all sizes",
            ("algorithm", "setting", "model"),
            list(lines.values()),
            "– {} %",
        )
        note = "Step t of T is in the column of the first end that is not below t / T."
        yield TextTable(table.title, table.headers, table.rows, note)


def _matrix(title: str, names: Sequence[str], lines: Sequence[_Line], column: str = "{}") -> TextTable:
    columns = sorted({number for line in lines for number in line.rows})
    headers = tuple(Header(name, name=True) for name in names)
    headers += tuple(Header(column.format(n), optional=_rank(place)) for place, n in enumerate(columns))
    return TextTable(title, headers, tuple(tuple(_cells(line, columns)) for line in lines))


def _rank(place: int) -> int:
    """Where a terminal is narrow every second column goes first, then every second of the rest, and so on."""
    return next((6 - power for power in range(5) if place % 2 ** (power + 1)), 1)


def _cells(line: _Line, columns: Sequence[int]) -> Iterator[Cell]:
    for name in line.names:
        yield Cell(visible(name), dim=line.published)
    for number in columns:
        row: Mapping[str, Any] = line.rows.get(number, {})
        text = one_decimal(row[line.metric]) if row else UNKNOWN
        yield Cell(text, interval_text(row, line.metric, one_decimal), line.published)
