"""The tables of a report, and the table of right answers that papers print: a line per group, a column per player."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphwalk.report.compare import comparison_table, memorisation_table
from graphwalk.report.measures import TASKS
from graphwalk.report.suite_report import BASELINE, Column, Grouping, Report, ReportRow
from graphwalk.report.text_table import UNKNOWN, Cell, Header, TextTable, interval_text, one_decimal, short
from graphwalk.types.inert import visible

PAPER = " (paper)"
_Key = tuple[bool, str, str]
"""Published or not, model, setting."""
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
    if report.memorisation_test:
        yield memorisation_table(report.memorisation_test)
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


@dataclass(frozen=True)
class Fact:
    """A column about the tasks: the field `field` of the row of the baseline `player`."""

    title: str
    player: str
    field: str
    format: Callable[[Any], str]
    optional: int


def common_facts(player: str, chance: str, par: str) -> tuple[Fact, ...]:
    """Size of the answers, chance level, par. `player` is a baseline that has a row for every task."""
    return (
        Fact("rows", player, "answer_rows", short, 20),
        Fact("chance %", chance, "accuracy", one_decimal, 10),
        Fact("par calls", par, "calls_per_question", one_decimal, 30),
        Fact("par tokens", par, "tokens_per_question", short, 30),
    )


@dataclass(frozen=True)
class Line:
    """One line: its names, and the rows of players that belong to it."""

    names: tuple[str, ...]
    ours: Sequence[ReportRow]
    baselines: Sequence[ReportRow]
    published: Sequence[ReportRow]

    def rows(self) -> dict[_Key, ReportRow]:
        groups = ((self.ours, False), (self.published, True))
        return {(paper, row["model"], row["setting"]): row for rows, paper in groups for row in rows}


def line_of(report: Report, names: tuple[str, ...], grouping: str | None = None, group: Any = None) -> Line:
    """The line of one group; without a grouping, the total."""
    reference = report.reference
    if grouping is None:
        return Line(names, report.rows, report.baselines, reference.rows if reference else ())
    published = reference.groups.get(grouping, ()) if reference else ()
    return Line(
        names,
        *(
            [row for row in rows if row[grouping] == group]
            for rows in (report.groups[grouping], report.baseline_groups.get(grouping, ()), published)
        ),
    )


def counts_table(
    title: str, names: Sequence[str], lines: Sequence[Line], facts: Iterable[Fact], note: str = ""
) -> TextTable:
    """Cells are "right/asked". A fact that is not known for all tasks of a line says for how many."""
    players = list(
        dict.fromkeys(key for paper in (False, True) for line in lines for key in line.rows() if key[0] is paper)
    )
    told = [fact for fact in facts if any(_fact(line, fact) != UNKNOWN for line in lines)]
    headers = (
        *(Header(name, name=True) for name in names),
        Header("tasks", optional=15),
        *(Header(fact.title, optional=fact.optional) for fact in told),
        *(Header(_title(key), optional=_level(place, key)) for place, key in enumerate(players)),
    )
    rows = tuple(tuple(_cells(line, told, players)) for line in lines)
    return TextTable(title, headers, rows, note)


def _title(key: _Key) -> str:
    paper, model, setting = key
    return f"{visible(model)}{PAPER * paper}\n{visible(setting)}"


def _level(place: int, key: _Key) -> int:
    """The paper's columns are the first to go, from the last one on; then ours."""
    return place + (50 if key[0] else 0)


def _cells(line: Line, facts: Sequence[Fact], players: Sequence[_Key]) -> Iterator[Cell]:
    for name in line.names:
        yield Cell(visible(name))
    yield Cell(str(_tasks(line)))
    for fact in facts:
        yield Cell(_fact(line, fact))
    rows = line.rows()
    for key in players:
        row = rows.get(key)
        known = row is not None and row.get("correct") is not None
        yield Cell(f"{row['correct']}/{row['questions']}" if row and known else UNKNOWN, dim=key[0])


def _fact(line: Line, fact: Fact) -> str:
    row = next((row for row in line.baselines if row["model"] == fact.player), None)
    if row is None or row[fact.field] is None:
        return UNKNOWN
    known = row["known"].get(fact.field, row["tasks"])
    return fact.format(row[fact.field]) + (f" ({known})" if known != _tasks(line) else "")


def _tasks(line: Line) -> int:
    return max((row["tasks"] for row in (*line.ours, *line.baselines)), default=0)
