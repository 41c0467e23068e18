"""The index of a page as JSON values: runs with their tables, players, tasks, and a short line per episode."""

from collections.abc import Mapping, Sequence
from typing import Any

from graphwalk.page.content import RunContent
from graphwalk.report.declared import Report
from graphwalk.report.drawing import INSTALL, can_draw, page_svg
from graphwalk.report.figures import COLUMNS, Figure, worth_drawing
from graphwalk.report.layout import Cell, TextTable
from graphwalk.report.tables import text_tables
from graphwalk.suites.registry import suite_named

LINE = ("right", "failed", "error", "status", "turns", "calls", "tokens", "cost", "seconds", "answer")
"""Fields of an episode in the index, after the numbers of its player, its task, and its repeat."""


def title_of(runs: Sequence[RunContent]) -> str:
    """What the page is called: its run or two, or how many they are; their names stand below."""
    return " and ".join(run.name for run in runs) if len(runs) <= 2 else f"{len(runs)} runs"


def index_of(runs: Sequence[RunContent], states: Mapping[str, str] | None = None) -> dict[str, Any]:
    """`states`: what `graphwalk runs` says of each run, by name. Tasks are shared where two runs have the same ones."""
    players: dict[tuple[int, str, str], int] = {}
    tasks: dict[tuple[str, str], int] = {}
    told: list[list[Any]] = []
    lines: list[list[Any]] = []
    for number, run in enumerate(runs):
        for episode in run.episodes:
            key, line = episode.key, episode.line
            player = players.setdefault((number, key.model, key.setting), len(players))
            task = tasks.setdefault((key.task_id, episode.digest), len(tasks))
            if task == len(told):
                told.append([key.task_id, line["kind"], line["group"], line["question"], line["par"]])
            lines.append([player, task, key.repeat, *(line[name] for name in LINE)])
    return {
        "title": title_of(runs),
        "runs": [_run(run, (states or {}).get(run.name, "")) for run in runs],
        "players": [list(player) for player in players],
        "tasks": told,
        "fields": ["player", "task", "repeat", *LINE],
        "episodes": lines,
    }


def figures_of(run: RunContent) -> dict[str, Any]:
    """Every figure with its data, and drawn where matplotlib is there; else how to get that."""
    if run.report is None or run.observed is None:
        return {"figures": [], "missing": None}
    made = worth_drawing(list(suite_named(run.suite).figures(run.report, run.observed)))
    return {"figures": [_figure(one, can_draw()) for one in made], "missing": None if can_draw() else INSTALL}


def _figure(figure: Figure, drawn: bool) -> dict[str, Any]:
    return {
        "name": figure.name,
        "title": figure.title,
        "about": figure.about,
        "columns": list(COLUMNS),
        "rows": [list(row) for row in figure.rows],
        "svg": page_svg(figure) if drawn else None,
    }


def _run(run: RunContent, state: str) -> dict[str, Any]:
    report = run.report
    return {
        "name": run.name,
        "suite": run.suite,
        "judged": suite_named(run.suite).judged,
        "state": state,
        **run.facts,
        "tables": [_table(table) for table in text_tables(report)] if report else [],
        "notes": list(_notes(report)) if report else [],
        "incomplete": report.incomplete if report else None,
    }


def _notes(report: Report) -> Sequence[str]:
    return [note for note in report.notes if note != report.incomplete]


def _table(table: TextTable) -> dict[str, Any]:
    return {
        "title": table.title,
        "headers": [[header.title, header.name, header.optional] for header in table.headers],
        "rows": [[_cell(cell) for cell in row] for row in table.rows],
        "note": table.note,
        "more": sorted(table.long_only),
    }


def _cell(cell: Cell) -> dict[str, Any]:
    told = {"text": cell.text, "interval": cell.interval, "dim": cell.dim, "drawn": cell.drawn}
    return {name: value for name, value in told.items() if value}
