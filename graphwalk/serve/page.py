"""Write the page of one or more runs as HTML."""

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from graphwalk.files import make_folder, write_whole
from graphwalk.jinja import render_page
from graphwalk.reports.plot_files import INSTALL, can_draw, page_svg
from graphwalk.reports.plots import COLUMNS, Plot, worth_drawing
from graphwalk.reports.suite_report import Report
from graphwalk.reports.tables import text_tables
from graphwalk.reports.text_table import Cell, TextTable, legend
from graphwalk.resources import data_path
from graphwalk.sanitise import escape_markup, one_line, script_json
from graphwalk.serve.page_content import Episode, RunContent
from graphwalk.suites.registry import suite_named

_SCRIPTS = (
    "dom",
    "data",
    "tables",
    "plots",
    "filters",
    "list",
    "layout",
    "graph",
    "grid",
    "walk",
    "turns",
    "episode",
    "paper",
)
_LAST = "main"
_STYLES = ("page", "episode")


@cache
def script() -> str:
    """Scripts in order of dependency."""
    return '"use strict";\n' + "\n".join(_read(f"{name}.js") for name in (*_SCRIPTS, _LAST))


@cache
def style() -> str:
    return "\n".join(_read(f"{name}.css") for name in _STYLES)


def policy(blocks: str = "", connect: str = "'none'") -> str:
    """Return the content security policy. `blocks`: sources of scripts with episodes; `connect`: addresses of
    requests.
    """
    return (
        f"default-src 'none'; script-src '{_hash(script())}'{blocks}; style-src '{_hash(style())}'; img-src data:; "
        f"connect-src {connect}; base-uri 'none'; form-action 'none'"
    )


def _read(name: str) -> str:
    return (data_path("templates") / "page" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


LINE = (
    "right",
    "failed",
    "error",
    "failure",
    "ignored",
    "status",
    "turns",
    "calls",
    "tokens",
    "cost",
    "seconds",
    "answer",
)
"""Fields of an episode in the index, after the indexes of its player and task, and its repeat."""


def title_of(runs: Sequence[RunContent]) -> str:
    """Return the title of the page: the names of one or two runs, or the number of runs."""
    return " and ".join(run.name for run in runs) if len(runs) <= 2 else f"{len(runs)} runs"


def index_of(runs: Sequence[RunContent], states: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the index of runs. `states`: state of each run by name. Runs with the same tasks share them."""
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
                told.append([key.task_id, line["kind"], line["group"], line["question"], line["reference"]])
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
    """Return every plot with its data, drawn if matplotlib is installed, else with the command to install it."""
    if run.report is None or run.observed is None:
        return {"figures": [], "missing": None}
    made = worth_drawing(list(suite_named(run.suite).presentation.figures(run.report, run.observed)))
    return {"figures": [_figure(one, can_draw()) for one in made], "missing": None if can_draw() else INSTALL}


def _figure(figure: Plot, drawn: bool) -> dict[str, Any]:
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
    tables = list(text_tables(report)) if report else []
    return {
        "name": run.name,
        "suite": run.suite,
        "judged": suite_named(run.suite).judged,
        "state": state,
        **run.facts,
        "tables": [_table(table) for table in tables],
        "notes": [*legend(header for table in tables for header in table.headers), *_notes(report)] if report else [],
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


LARGEST_PAGE = 150_000_000
"""Maximum size of episodes in one file, in bytes; larger ones are written as files beside the page."""
BUNDLE = 32
"""Episodes in one such file."""


def page_texts(runs: Sequence[RunContent]) -> Iterator[str]:
    """Yield the page with all its data, index first, so that a reader sees it before the episodes are loaded."""
    figures = [figures_of(run) for run in runs]
    yield from _head(title_of(runs), policy())
    yield _json("index", {**index_of(runs), "source": "inline"})
    yield _json("figures", figures)
    yield from _script()
    for number, episode in enumerate(_every(runs)):
        yield f'<script type="text/plain" id="block-{number}">{episode.text}</script>\n'
    yield "</body></html>\n"


def write_page(runs: Sequence[RunContent], path: Path, *, largest: int = LARGEST_PAGE) -> Path:
    """Write the page; the file to open. ConfigError where it cannot be written.

    Beyond `largest` bytes of episodes PATH without its ending becomes a folder with `index.html` and the episodes.
    """
    if sum(len(episode.block) for episode in _every(runs)) * 4 / 3 <= largest:
        write_whole(path, page_texts(runs))
        return path
    folder = path.with_suffix("")
    make_folder(folder, parents=False)
    make_folder(folder / "episodes")
    for number, bundle in enumerate(_bundles(list(_every(runs)))):
        write_whole(folder / "episodes" / f"{number}.js", [bundle])
    texts = [*_head(title_of(runs), policy(" 'self'")), _json("index", {**index_of(runs), "source": "files"})]
    figures = [figures_of(run) for run in runs]
    write_whole(folder / "index.html", [*texts, _json("figures", figures), *_script(), "</body></html>\n"])
    return folder / "index.html"


def served_page(title: str) -> str:
    """Return the page that requests its data from the server."""
    texts = [*_head(title, policy(connect="'self'")), _json("index", {"title": title, "source": "server"})]
    return "".join([*texts, _json("figures", None), *_script(), "</body></html>\n"])


def _bundles(episodes: Sequence[Episode]) -> Iterator[str]:
    """Return base64 in quotation marks, which cannot be executed."""
    for start in range(0, len(episodes), BUNDLE):
        texts = [f'"{episode.text}"' for episode in episodes[start : start + BUNDLE]]
        yield f"takeBlocks({start},[{','.join(texts)}]);\n"


def _every(runs: Sequence[RunContent]) -> Iterator[Episode]:
    for run in runs:
        yield from run.episodes


def _head(title: str, allowed: str) -> Iterator[str]:
    title = escape_markup(one_line(title))
    yield render_page("page/page.html.j2", title=title, style=style(), policy=allowed, bundle=BUNDLE)


def _json(name: str, value: Any) -> str:
    return f'<script type="application/json" id="{name}">{script_json(value)}</script>\n'


def _script() -> Iterator[str]:
    yield f"<script>{script()}</script>\n"
