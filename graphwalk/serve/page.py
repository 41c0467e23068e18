"""The page of one or more runs: its content as JSON, and the HTML file."""

import base64
import hashlib
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from graphwalk.config.jinja import render_page
from graphwalk.errors import ConfigError, install_hint
from graphwalk.evaluation.comments import comment
from graphwalk.files.resources import data_path
from graphwalk.files.writing import write_whole
from graphwalk.reports.common_plots import plots_of
from graphwalk.reports.observations import Observations
from graphwalk.reports.plot_files import can_draw, page_svg, styles_of
from graphwalk.reports.plots import COLUMNS, worth_drawing
from graphwalk.reports.scene import Scene, StateTable
from graphwalk.reports.suite_report import Report
from graphwalk.reports.tables import text_tables
from graphwalk.reports.text_table import Cell, TextTable, legend
from graphwalk.runs.finished.reporting import measured
from graphwalk.runs.folder.result import EpisodeKey, key_of
from graphwalk.runs.folder.run_folder import RunFolder, own_episodes
from graphwalk.sanitise import escape_markup, one_line, script_json
from graphwalk.suites.suite import Suite
from graphwalk.tools.observed import rows_of
from graphwalk.types.encodings import decode_notes
from graphwalk.types.episode import ExitStatus, ToolResult, Trajectory, Turn
from graphwalk.types.wire import from_dict

_MOST_ROWS = 300
"""Rows of one tool result that the page holds."""
_MOST_COMPARED = 2_000


def episode_content(record: Mapping[str, Any], suite: Suite[Any, Any]) -> dict[str, Any]:
    """Return the parts of an episode that are not in the index, as JSON values with logged texts unchanged."""
    trajectory = from_dict(Trajectory, record["trajectory"])
    scene, missing = Scene(), list[str]()
    with comment("step-by-step picture", missing.append):
        scene = suite.task_type.model_validate(record["task"]).scene(record) or scene
    compared = scene.comparison or plain_comparison(record["answer"], record["task"].get("gold"))
    return {
        "question": record["task"]["question"],
        "parameters": record["task"].get("parameters", {}),
        "prompt": [[message.role, message.content or ""] for message in trajectory.prompt],
        "turns": [_turn(turn) for turn in trajectory.turns],
        "answer": record["answer"],
        "target": record["task"].get("gold"),
        "score": record["score"],
        "error": trajectory.error,
        "extractor": record.get("extractor_reply"),
        "graph": {name: value for name, value in record.get("graph", {}).items() if not isinstance(value, dict | list)},
        "comparison": asdict(compared),
        "scene": _scene(scene),
        "missing": "; ".join(missing),
    }


def plain_comparison(answer: Any, gold: Any) -> StateTable:
    """Compare item by item if both are lists, else the two values."""
    if not isinstance(gold, list):
        return StateTable(("answer", "target"), (("", answer, gold),) if (answer, gold) != (None, None) else ())
    items = answer if isinstance(answer, list) else [] if answer is None else [answer]
    target, answer_texts = {_text(item) for item in gold}, {_text(item) for item in items}
    rows = [("right" if _text(item) in target else "wrong", item) for item in items]
    rows += [("missed", item) for item in gold if _text(item) not in answer_texts]
    return StateTable(("item",), tuple(rows[:_MOST_COMPARED]))


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _scene(scene: Scene) -> dict[str, Any] | None:
    """Return a scene without empty values in its steps; cell 0 is kept."""
    if not scene.steps:
        return None
    fields = asdict(replace(scene, comparison=None))
    steps = [{k: v for k, v in step.items() if v or (k == "cell" and v is not None)} for step in fields["steps"]]
    return {**fields, "steps": steps}


def _turn(turn: Turn) -> dict[str, Any]:
    answered = {result.call.id for result in turn.results}
    without = [call for call in turn.message.tool_calls if call.id not in answered]
    fields = {
        "thought": turn.message.reasoning,
        "text": turn.message.content,
        "calls": [
            *(_call(result) for result in turn.results),
            *({"name": call.name, "arguments": _arguments(call.arguments)} for call in without),
        ],
        "usage": {name: value for name, value in asdict(turn.usage).items() if value},
        "seconds": turn.seconds,
        "finish": turn.finish_reason,
        "forced": turn.forced,
        "summary": turn.summary,
        "next": turn.next_user,
    }
    return {name: value for name, value in fields.items() if value}


def _call(result: ToolResult) -> dict[str, Any]:
    rows = rows_of(result)
    fields: dict[str, Any] = {
        "name": result.call.name,
        "arguments": _arguments(result.call.arguments),
        "error": result.error,
        "seconds": result.seconds,
        "found": result.rows,
    }
    if rows:
        fields |= {"columns": list(rows[0]), "rows": [list(row.values()) for row in rows[:_MOST_ROWS]]}
        fields |= {"more": max(0, len(rows) - _MOST_ROWS), "notes": decode_notes(result.content)}
    else:
        fields["text"] = result.content
    return {name: value for name, value in fields.items() if value not in (None, [], "")}


def _arguments(text: str) -> Any:
    """Return the arguments of a call as an object, or the text if it is not one."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict) else text


_STEP_ERRORS = ("missing_prefix", "invalid_items", "hallucinations", "false_negatives")
_LONGEST_QUESTION, _LONGEST_ANSWER = 400, 160
"""Characters that can be searched for."""
_RAW = -15
"""Deflate without a header, which a browser inflates as "deflate-raw"."""

Record = Mapping[str, Any]


@dataclass(frozen=True)
class PageEpisode:
    """One episode of a page: its line of the index, and everything else as deflated JSON."""

    key: EpisodeKey
    task: tuple[Any, ...]
    """Task id, digest of the graph, kind, group, question, and reference calls."""
    line: Mapping[str, Any]
    block: bytes

    @property
    def text(self) -> str:
        """The block as written into the page."""
        return base64.b64encode(self.block).decode()


@dataclass
class RunContent:
    """One run of a page."""

    name: str
    suite: str
    facts: Mapping[str, Any]
    report: Report
    observed: Observations
    episodes: list[PageEpisode]

    @cached_property
    def figures(self) -> dict[str, Any]:
        """Every plot with its data, drawn if matplotlib is installed, else with the command to install it."""
        figures, notes = [], list[str]()
        with comment("plots", notes.append):
            plots = worth_drawing(list(plots_of(self.report, self.observed)))
            styles = styles_of(plots)
            for figure in plots:
                figures.append(
                    {
                        "name": figure.name,
                        "title": figure.title,
                        "about": figure.about,
                        "columns": list(COLUMNS),
                        "rows": [list(row) for row in figure.rows],
                        "svg": page_svg(figure, styles) if can_draw() else None,
                    }
                )
        return {"figures": figures, "missing": None if can_draw() else install_hint("plots"), "notes": notes}


def content_of(folder: RunFolder, wanted: Callable[[EpisodeKey], bool] = lambda key: True) -> RunContent:
    """Return a run with the episodes that are wanted; tables and plots are of the whole run."""
    suite = folder.suite
    by_key: dict[EpisodeKey, PageEpisode] = {}

    def taken() -> Iterator[dict[str, Any]]:
        for record in folder.records():
            if wanted(key_of(record)):
                by_key[key_of(record)] = _episode(record, suite)
            yield record

    report, observed = measured(folder, taken())
    episodes = [by_key[key] for key in sorted(by_key)]
    return RunContent(folder.path.name, suite.name, _facts(folder.read_manifest()), report, observed, episodes)


def _episode(record: Record, suite: Suite[Any, Any]) -> PageEpisode:
    block = deflated(json.dumps(episode_content(record, suite), separators=(",", ":")))
    task = record["task"]
    shared = (
        record["task_id"],
        task.get("graph_digest", ""),
        task["template"],
        task.get("category") or "",
        task["question"][:_LONGEST_QUESTION],
        task.get("reference_calls"),
    )
    return PageEpisode(key_of(record), shared, _line(record), block)


def deflated(text: str) -> bytes:
    packer = zlib.compressobj(6, zlib.DEFLATED, _RAW)
    return packer.compress(text.encode()) + packer.flush()


def inflated(block: bytes) -> str:
    return zlib.decompress(block, _RAW).decode()


def _line(record: Record) -> dict[str, Any]:
    """Return the fields that episodes are searched by, besides those of their tasks."""
    score, usage = record["score"] or {}, record["usage"]
    answer = "" if record["answer"] is None else record["answer"]
    tokens = [usage[name] for name in ("input_tokens", "output_tokens") if usage.get(name) is not None]
    return {
        "right": score.get("correct"),
        "failed": ExitStatus(record["exit_status"]).infrastructure,
        "error": score.get("error_class") or _wrong_steps(score),
        "failure": score.get("failure") or "",
        "ignored": score.get("ignored_condition") or "",
        "status": record["exit_status"],
        "turns": record["turns"],
        "calls": record["tool_calls"],
        "tokens": sum(tokens) if tokens else None,
        "cost": usage.get("cost"),
        "seconds": record["seconds"],
        "answer": (answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False))[:_LONGEST_ANSWER],
    }


def _wrong_steps(score: Mapping[str, Any]) -> str:
    """Return the most frequent class of errors, if a score counts several."""
    worst = max(_STEP_ERRORS, key=lambda name: score.get(name) or 0)
    return worst if score.get(worst) else ""


def _facts(manifest: Mapping[str, Any]) -> dict[str, Any]:
    config = manifest["config"]
    return {
        "experiment": manifest.get("name", ""),
        "description": config.get("description") or "",
        "created": manifest.get("created", ""),
        "version": manifest.get("graphwalk_version", ""),
        "seed": config.get("seed"),
        "planned": own_episodes(manifest),
    }


_SCRIPTS = (
    *("dom", "data", "tables", "plots", "filters", "list", "layout", "graph", "grid", "walk", "turns"),
    *("episode", "paper", "main"),
)
"""In order of dependency."""


@cache
def script() -> str:
    return '"use strict";\n' + "\n".join(_read(f"{name}.js") for name in _SCRIPTS)


@cache
def style() -> str:
    return "\n".join(_read(f"{name}.css") for name in ("page", "episode"))


def policy(connect: str = "'none'") -> str:
    """Return the content security policy. `connect`: sources of requests."""
    return (
        f"default-src 'none'; script-src '{_hash(script())}'; style-src '{_hash(style())}'; img-src data:; "
        f"connect-src {connect}; base-uri 'none'; form-action 'none'"
    )


def _read(name: str) -> str:
    return (data_path("templates") / "page" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def index_of(runs: Sequence[RunContent], states: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the index of runs. `states`: state of each run by name. Runs with the same tasks share them."""
    players: dict[tuple[int, str, str], int] = {}
    tasks: dict[tuple[Any, ...], int] = {}
    lines: list[Mapping[str, Any]] = []
    for number, run in enumerate(runs):
        for episode in run.episodes:
            key = episode.key
            player = players.setdefault((number, key.model, key.setting), len(players))
            task = tasks.setdefault(episode.task, len(tasks))
            lines.append({"player": player, "task": task, "repeat": key.repeat, **episode.line})
    return {
        "title": " and ".join(run.name for run in runs) if len(runs) <= 2 else f"{len(runs)} runs",
        "runs": [_run(run, (states or {}).get(run.name, "")) for run in runs],
        "players": [list(player) for player in players],
        "tasks": list(tasks),
        "fields": list(lines[0]) if lines else [],
        "episodes": [list(line.values()) for line in lines],
    }


def _run(run: RunContent, state: str) -> dict[str, Any]:
    report = run.report
    tables = list(text_tables(report))
    legends = legend(header for table in tables for header in table.headers)
    return {
        "name": run.name,
        "suite": run.suite,
        "state": state,
        **run.facts,
        "verdict": list(report.verdict),
        "tables": [_table(table) for table in tables],
        "notes": [*legends, *(note for note in report.notes if note != report.incomplete)],
        "incomplete": report.incomplete,
    }


def _table(table: TextTable) -> dict[str, Any]:
    return {
        "title": table.title,
        "headers": [[header.title, header.name, header.optional] for header in table.headers],
        "rows": [[_cell(cell) for cell in row] for row in table.rows],
        "note": table.note,
    }


def _cell(cell: Cell) -> dict[str, Any]:
    fields = {"text": cell.text, "interval": cell.interval, "dim": cell.dim, "drawn": cell.drawn}
    return {name: value for name, value in fields.items() if value}


LARGEST_PAGE = 150_000_000
"""Maximum size of the episodes in a file, in bytes."""


def page_texts(runs: Sequence[RunContent]) -> Iterator[str]:
    """Yield the page with all its data, index first, so that a reader sees it before the episodes are loaded."""
    index, figures = {**index_of(runs), "source": "inline"}, [run.figures for run in runs]
    blocks = (
        f'<script type="text/plain" id="block-{number}">{episode.text}</script>\n'
        for number, episode in enumerate(episode for run in runs for episode in run.episodes)
    )
    yield from _document(policy(), index, figures, blocks)


def write_page(runs: Sequence[RunContent], path: Path) -> None:
    """Write the page. Raise ConfigError if it cannot be written, or has too many episodes for one file."""
    size = sum(len(episode.block) for run in runs for episode in run.episodes) * 4 / 3
    if size > LARGEST_PAGE:
        raise ConfigError(
            f"{path}: a page of {size / 1e6:.0f} MB is more than a browser opens",
            hint="graphwalk view RUN serves it; --task, --model and --setting choose episodes",
        )
    write_whole(path, page_texts(runs))


def served_page(title: str) -> str:
    """Return the page that requests its data from the server."""
    return "".join(_document(policy(connect="'self'"), {"title": title, "source": "server"}, None))


def _document(allowed: str, index: Mapping[str, Any], figures: Any, blocks: Iterable[str] = ()) -> Iterator[str]:
    title = escape_markup(one_line(index["title"]))
    yield render_page("page/page.html.j2", title=title, style=style(), policy=allowed)
    for name, value in (("index", index), ("figures", figures)):
        yield f'<script type="application/json" id="{name}">{script_json(value)}</script>\n'
    yield f"<script>{script()}</script>\n"
    yield from blocks
    yield "</body></html>\n"
