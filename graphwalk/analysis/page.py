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
from itertools import chain
from pathlib import Path
from typing import Any

from graphwalk.analysis.explained import explained
from graphwalk.analysis.report.formats import text_tables
from graphwalk.analysis.report.measures import tokens_of
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
    }
    content |= asdict(scene)
    for turn in content["turns"]:
        for call in turn["calls"]:
            # The page shows the rows as a table, and would hold them twice.
            if call["table"]:
                call["result"] = ""
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
        if self.report is None or not can_draw():
            return []
        figures = []
        for plot in plots_of(self.report):
            figures.append({"name": plot.name, "title": plot.title, "about": plot.about, "svg": page_svg(plot)})
        return figures


def content_of(folder: RunFolder, names: Mapping[str, str] = {}) -> RunContent:
    """Return a run with its episodes. `names`: other names of its models, as of `report_of`."""
    scene_of = scene_maker(folder)
    by_key: dict[EpisodeKey, PageEpisode] = {}

    def records() -> Iterator[dict[str, Any]]:
        for record in explained(folder):
            model = names.get(record["model"], record["model"])
            by_key[key_of(record)] = _episode({**record, "model": model}, scene_of(record))
            yield record

    # The log is read once, for the episodes and for the report.
    report = None
    if folder.is_conversation:
        deque(records(), maxlen=0)
    else:
        report = report_of(folder, records(), names=names)
    episodes = [by_key[key] for key in sorted(by_key)]
    return RunContent(folder.path.name, folder.suite_name, _facts(folder.read_manifest()), report, episodes)


def _episode(record: ResultRecord, scene: Scene) -> PageEpisode:
    task = record["task"]
    score = record["score"] or {}
    usage = record["usage"]
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
        "tokens": tokens_of(record),
        "cost": usage.get("cost"),
        "seconds": record["seconds"],
        "answer": _answer_text(record["answer"])[:_LONGEST_ANSWER],
    }
    identity = (record["task_id"], task.get("graph_digest", ""))
    return PageEpisode(identity, fields, _deflated(json.dumps(episode_content(record, scene))))


def _answer_text(answer: Any) -> str:
    if answer is None:
        return ""
    return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)


def _deflated(text: str) -> bytes:
    packer = zlib.compressobj(6, zlib.DEFLATED, _RAW)
    return packer.compress(text.encode()) + packer.flush()


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
    "dom",
    "data",
    "tables",
    "plots",
    "filters",
    "list",
    "layout",
    "graph",
    "grid",
    "turns",
    "walk",
    "episode",
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
    """Task → its number, in the order in which tasks are first seen."""
    episodes = []
    for place, run in enumerate(runs):
        for episode in run.episodes:
            task_number = numbers.setdefault(episode.task, len(numbers))
            episodes.append({"run": place, "task": task_number, **episode.fields})

    title = " and ".join(run.name for run in runs)
    if len(runs) > 2:
        title = f"{len(runs)} runs"
    return {"title": title, "runs": [_run(run) for run in runs], "episodes": episodes}


def _run(run: RunContent) -> dict[str, Any]:
    report = run.report
    index: dict[str, Any] = {"name": run.name, "suite": run.suite, "conversation": report is None}
    index |= run.facts
    if report is None:
        return index | {"verdict": [], "tables": [], "notes": [], "incomplete": None}

    tables = list(text_tables(report))
    columns: list[Column] = []
    for table in tables:
        columns += table.columns
    index["verdict"] = report.verdict
    index["tables"] = [_table(table) for table in tables]
    # The page shows the note on an unfinished run at its top.
    index["notes"] = legend(columns) + [note for note in report.notes if note != report.incomplete]
    index["incomplete"] = report.incomplete
    return index


def _table(table: TextTable) -> dict[str, Any]:
    rows = []
    for row in table.rows:
        rows.append([dict(_cell(column, row)) for column in table.columns])
    headers = [(column.title, column.name) for column in table.columns]
    return {"title": table.title, "headers": headers, "rows": rows, "note": table.note}


def _cell(column: Column, row: TableRow) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a cell; `drawn` are low end, value and high end as shares of the scale."""
    value = row.values.get(column.field)
    yield "text", column.text(row)
    yield "interval", column.interval_text(row)
    yield "dim", row.is_published
    if value is not None and column.scale is not None and 0 <= value <= column.scale:
        # 75 of 100 with the interval 40 to 93: [0.4, 0.75, 0.93]
        low, high = row.intervals.get(column.field, (value, value))
        yield "drawn", [end / column.scale for end in (low, value, high)]


def page_texts(runs: Sequence[RunContent]) -> Iterator[str]:
    """Yield the page with all its data."""
    index = index_of(runs)
    figures = [run.figures for run in runs]
    script = "\n".join(_IMPORT_OR_EXPORT.sub("", _read(f"{name}.js")) for name in MODULES)
    style = "\n".join(_read(f"{name}.css") for name in ("page", "episode"))
    policy = (  # the page runs its own script and requests nothing
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    title = escape_markup(one_line(index["title"]))
    yield render_page("page/page.html.j2", title=title, style=style, policy=policy)
    yield f'<script type="application/json" id="index">{script_json(index)}</script>\n'
    yield f'<script type="application/json" id="figures">{script_json(figures)}</script>\n'
    yield f'<script type="module">{script}</script>\n'
    for number, episode in enumerate(chain.from_iterable(run.episodes for run in runs)):
        block = base64.b64encode(episode.block).decode()
        yield f'<script type="text/plain" id="block-{number}">{block}</script>\n'
    yield "</body></html>\n"


def write_page(runs: Sequence[RunContent], path: Path) -> None:
    """Write the page. Raise ConfigError if it cannot be written."""
    write_whole(path, page_texts(runs))
