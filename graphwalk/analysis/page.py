"""The page of one or more runs: its content as JSON, and the HTML file."""

import base64
import hashlib
import json
import re
import zlib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from graphwalk.analysis.explained import explained
from graphwalk.analysis.report.formats import text_tables
from graphwalk.analysis.report.plot_files import can_draw, page_svg
from graphwalk.analysis.report.plots import plots_of
from graphwalk.analysis.report.report import Report, report_of
from graphwalk.analysis.report.text_table import Column, TableRow, TextTable, legend
from graphwalk.analysis.scene import Scene
from graphwalk.analysis.suite_analysis import scene_maker
from graphwalk.config.resources import data_path
from graphwalk.config.templates import render_page
from graphwalk.files.writing import write_whole
from graphwalk.models.trajectory import ExitStatus
from graphwalk.runs.folder import RunFolder
from graphwalk.runs.record import EpisodeKey, ResultRecord, key_of
from graphwalk.sanitise import escape_markup, one_line, script_json

_LONGEST_ANSWER = 160
"""Characters of an answer that can be searched for."""
_RAW = -15
"""Deflate without a header, which a browser inflates as "deflate-raw"."""


@dataclass(frozen=True)
class PageEpisode:
    """One episode of a page: its fields in the index, and everything else as deflated JSON.

    Episodes with the same `task`, an id and the digest of a graph, can be shown side by side.
    """

    task: tuple[str, str]
    fields: Mapping[str, Any]
    block: bytes


def episode_content(record: ResultRecord, scene: Scene) -> dict[str, Any]:
    """Return the parts of an episode that are not in the index, as JSON values with logged texts unchanged."""
    content = {
        "question": record["task"]["question"],
        "parameters": record["task"].get("parameters", {}),
        "score": record["score"],
        "extractor": record.get("extractor_reply"),
        "graph": record.get("graph", {}),
        **asdict(scene),
    }
    for turn in content["turns"]:
        for call in turn["calls"]:
            call["result"] = "" if call["table"] else call["result"]
    return content


@dataclass
class RunContent:
    name: str
    suite: str
    facts: Mapping[str, Any]
    report: Report | None
    """None for a conversation."""
    episodes: list[PageEpisode]

    @cached_property
    def figures(self) -> list[dict[str, str]]:
        """The plots of the report, none without matplotlib."""
        plots = plots_of(self.report) if self.report is not None and can_draw() else ()
        return [{"name": one.name, "title": one.title, "about": one.about, "svg": page_svg(one)} for one in plots]


def content_of(folder: RunFolder, names: Mapping[str, str] = {}) -> RunContent:
    """Return a run with its episodes. `names`: other names of its models, as of `report_of`."""
    scene_of = scene_maker(folder)
    by_key: dict[EpisodeKey, PageEpisode] = {}

    def records() -> Iterator[dict[str, Any]]:
        for record in explained(folder):
            model = names.get(record["model"], record["model"])
            by_key[key_of(record)] = _episode({**record, "model": model}, scene_of(record))
            yield record

    report = None if folder.is_conversation else report_of(folder, records(), names=names)
    if report is None:
        deque(records(), maxlen=0)
    episodes = [by_key[key] for key in sorted(by_key)]
    return RunContent(folder.path.name, folder.suite_name, _facts(folder.read_manifest()), report, episodes)


def _episode(record: ResultRecord, scene: Scene) -> PageEpisode:
    task, score, usage = record["task"], record["score"] or {}, record["usage"]
    answer = "" if record["answer"] is None else record["answer"]
    tokens = [usage[name] for name in ("input_tokens", "output_tokens") if usage.get(name) is not None]
    fields = {
        "model": record["model"],
        "setting": record["setting"],
        "repeat": record["repeat"],
        "taskId": record["task_id"],
        "kind": task["template"],
        "group": task.get("category") or "",
        "question": task["question"],
        "reference": task.get("reference_calls"),
        "right": score.get("correct"),
        "failed": ExitStatus(record["exit_status"]).infrastructure,
        "cause": score.get("error_class") or "",
        "proof": _proof(score),
        "unproven": score.get("unproven") or "",
        "status": record["exit_status"],
        "turns": record["turns"],
        "calls": record["tool_calls"],
        "tokens": sum(tokens) if tokens else None,
        "cost": usage.get("cost"),
        "seconds": record["seconds"],
        "answer": (answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False))[:_LONGEST_ANSWER],
    }
    packer = zlib.compressobj(6, zlib.DEFLATED, _RAW)
    block = packer.compress(json.dumps(episode_content(record, scene)).encode()) + packer.flush()
    return PageEpisode((record["task_id"], task.get("graph_digest", "")), fields, block)


def _proof(score: Mapping[str, Any]) -> str:
    """Return whether a right answer is proven; "" of other answers, and if it is unknown."""
    if not score.get("correct") or score.get("proven") is None:
        return ""
    return "proven" if score["proven"] else "not proven"


def _facts(manifest: Mapping[str, Any]) -> dict[str, Any]:
    config = manifest["config"]
    return {
        "experiment": manifest.get("name", ""),
        "description": config.get("description") or "",
        "created": manifest.get("created", ""),
        "version": manifest.get("graphwalk_version", ""),
        "seed": config.get("seed"),
        "planned": manifest["fingerprint"]["episodes"],
    }


MODULES = (
    *("dom", "data", "tables", "plots", "filters", "list", "layout", "graph", "grid", "turns", "walk", "episode"),
    "main",
)
"""JavaScript modules, each after those that it imports."""
_IMPORT_OR_EXPORT = re.compile(r"^import [^;]*;\n|^export ", re.MULTILINE)


def _read(name: str) -> str:
    return (data_path("templates") / "page" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def index_of(runs: Sequence[RunContent]) -> dict[str, Any]:
    """Return the index of runs: their reports, and the fields of episodes, with a number for each task."""
    numbers: dict[tuple[str, str], int] = {}
    return {
        "title": " and ".join(run.name for run in runs) if len(runs) <= 2 else f"{len(runs)} runs",
        "runs": [_run(run) for run in runs],
        "episodes": [
            {"run": place, "task": numbers.setdefault(episode.task, len(numbers)), **episode.fields}
            for place, run in enumerate(runs)
            for episode in run.episodes
        ],
    }


def _run(run: RunContent) -> dict[str, Any]:
    report = run.report
    about = {"name": run.name, "suite": run.suite, "conversation": report is None, **run.facts}
    if report is None:
        return {**about, "verdict": [], "tables": [], "notes": [], "incomplete": None}
    legends = legend(column for table in text_tables(report) for column in table.columns)
    return {
        **about,
        "verdict": report.verdict,
        "tables": [_table(table) for table in text_tables(report)],
        "notes": [*legends, *(note for note in report.notes if note != report.incomplete)],
        "incomplete": report.incomplete,
    }


def _table(table: TextTable) -> dict[str, Any]:
    headers = [(column.title, column.name) for column in table.columns]
    rows = [[dict(_cell(column, row)) for column in table.columns] for row in table.rows]
    return {"title": table.title, "headers": headers, "rows": rows, "note": table.note}


def _cell(column: Column, row: TableRow) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a cell; `drawn` are low end, value and high end as shares of the scale."""
    value = row.values.get(column.field)
    yield "text", column.text(row)
    yield "interval", column.interval_text(row)
    yield "dim", row.is_published
    if value is not None and column.scale is not None and 0 <= value <= column.scale:
        low, high = row.intervals.get(column.field, (value, value))
        yield "drawn", [end / column.scale for end in (low, value, high)]


def page_texts(runs: Sequence[RunContent]) -> Iterator[str]:
    """Yield the page with all its data."""
    index, figures = index_of(runs), [run.figures for run in runs]
    script = "\n".join(_IMPORT_OR_EXPORT.sub("", _read(f"{name}.js")) for name in MODULES)
    style = "\n".join(_read(f"{name}.css") for name in ("page", "episode"))
    policy = (  # the page runs its own script and requests nothing
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    title = escape_markup(one_line(index["title"]))
    yield render_page("page/page.html.j2", title=title, style=style, policy=policy)
    for name, value in (("index", index), ("figures", figures)):
        yield f'<script type="application/json" id="{name}">{script_json(value)}</script>\n'
    yield f'<script type="module">{script}</script>\n'
    for number, episode in enumerate(episode for run in runs for episode in run.episodes):
        yield f'<script type="text/plain" id="block-{number}">{base64.b64encode(episode.block).decode()}</script>\n'
    yield "</body></html>\n"


def write_page(runs: Sequence[RunContent], path: Path) -> None:
    """Write the page. Raise ConfigError if it cannot be written."""
    write_whole(path, page_texts(runs))
