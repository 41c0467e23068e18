"""Right answers of all players side by side, as the papers print them: a line per group, a column per player."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from graphwalk.report.declared import Report, ReportRow
from graphwalk.report.formats import UNKNOWN, one_decimal, short
from graphwalk.report.layout import Cell, Header, TextTable
from graphwalk.types.inert import visible

PAPER = " (paper)"
_Key = tuple[bool, str, str]
"""Published or not, model, setting."""


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
