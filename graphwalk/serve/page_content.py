"""Content of the page of a run, as JSON."""

import base64
import json
import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, cast

from graphwalk.encodings import decode_notes, read_rows
from graphwalk.reports.observations import Observations
from graphwalk.reports.plots import Scene, SceneStep, StateTable
from graphwalk.reports.suite_report import Report
from graphwalk.runs.reporting import measured
from graphwalk.runs.result import EpisodeKey, key_of
from graphwalk.runs.run_folder import RunFolder, own_episodes
from graphwalk.suites.registry import suite_named
from graphwalk.suites.suite import Suite
from graphwalk.types.chat import Message, Usage
from graphwalk.types.episode import ExitStatus, ToolResult, Trajectory, Turn
from graphwalk.types.wire import from_dict

_MOST_ROWS = 300
"""Rows of one tool result that the page holds."""
_MOST_COMPARED = 2_000


def episode_content(record: Mapping[str, Any], suite: Suite[Any, Any]) -> dict[str, Any]:
    """Return the parts of an episode that are not in the index, as JSON values with logged texts unchanged."""
    trajectory = from_dict(Trajectory, record["trajectory"])
    scene = suite.presentation.scene(record) or Scene()
    compared = scene.comparison or plain_comparison(record["answer"], record["task"].get("gold"))
    return {
        "question": record["task"]["question"],
        "parameters": record["task"].get("parameters", {}),
        "prompt": [_message(message) for message in trajectory.prompt],
        "turns": [_turn(turn) for turn in trajectory.turns],
        "answer": record["answer"],
        "target": record["task"].get("gold"),
        "score": record["score"],
        "error": trajectory.error,
        "extractor": record.get("extractor_reply"),
        "graph": {name: value for name, value in record.get("graph", {}).items() if not isinstance(value, dict | list)},
        "comparison": _fields(compared),
        "scene": _scene(scene),
    }


def plain_comparison(answer: Any, gold: Any) -> StateTable:
    """Compare item by item if both are lists, else the two values."""
    if not isinstance(gold, list):
        return StateTable(("answer", "target"), (("", answer, gold),) if (answer, gold) != (None, None) else ())
    given = answer if isinstance(answer, list) else [] if answer is None else [answer]
    target, said = {_text(item) for item in gold}, {_text(item) for item in given}
    rows = [("right" if _text(item) in target else "wrong", item) for item in given]
    rows += [("missed", item) for item in gold if _text(item) not in said]
    return StateTable(("item",), tuple(rows[:_MOST_COMPARED]))


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _scene(scene: Scene) -> dict[str, Any] | None:
    if not scene.steps:
        return None
    return {
        "nodes": [_fields(node) for node in scene.nodes],
        "links": [_fields(link) for link in scene.links],
        "steps": [_step(step) for step in scene.steps],
        "layout": scene.layout,
        "grid": scene.grid and _fields(scene.grid),
        "legend": dict(scene.legend),
    }


def _step(step: SceneStep) -> dict[str, Any]:
    """Return a dictionary without empty values; cell 0 is kept."""
    told = {name: value for name, value in _fields(step).items() if value or (name == "cell" and value is not None)}
    return {**told, **({"table": _fields(step.table)} if step.table else {})}


def _fields(one: Any) -> dict[str, Any]:
    """Return the fields of a dataclass; `asdict` would copy them, which is ten times slower."""
    return {name: getattr(one, name) for name in _names(cast(Hashable, type(one)))}


@cache
def _names(kind: Hashable) -> tuple[str, ...]:
    return tuple(field.name for field in fields(cast(Any, kind)))


def _message(message: Message) -> list[str]:
    return [message.role, message.content or ""]


def _turn(turn: Turn) -> dict[str, Any]:
    asked = {call.id for call in turn.message.tool_calls}
    without = [c for c in turn.message.tool_calls if c.id not in {r.call.id for r in turn.results}] if asked else []
    told = {
        "thought": turn.message.reasoning,
        "text": turn.message.content,
        "calls": [
            *(_call(result) for result in turn.results),
            *({"name": call.name, "arguments": _arguments(call.arguments)} for call in without),
        ],
        "usage": _usage(turn.usage),
        "seconds": turn.seconds,
        "finish": turn.finish_reason,
        "forced": turn.forced,
        "summary": turn.summary,
        "next": turn.next_user,
    }
    return {name: value for name, value in told.items() if value}


def _usage(usage: Usage) -> dict[str, Any]:
    return {name: value for name, value in _fields(usage).items() if value}


def _call(result: ToolResult) -> dict[str, Any]:
    rows = None if result.error else read_rows(result.content)
    told: dict[str, Any] = {
        "name": result.call.name,
        "arguments": _arguments(result.call.arguments),
        "error": result.error,
        "seconds": result.seconds,
        "found": result.rows,
    }
    if rows:
        told |= {"columns": list(rows[0]), "rows": [list(row.values()) for row in rows[:_MOST_ROWS]]}
        told |= {"more": max(0, len(rows) - _MOST_ROWS), "notes": decode_notes(result.content)}
    else:
        told["text"] = result.content
    return {name: value for name, value in told.items() if value not in (None, [], "")}


def _arguments(text: str) -> Any:
    """Return the arguments of a call as an object, or the text if it is not one."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict) else text


_LONGEST_QUESTION, _LONGEST_ANSWER = 400, 160
"""Characters that can be searched for."""
_RAW = -15
"""Deflate without a header, which a browser inflates as "deflate-raw"."""

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Episode:
    """One episode of a page: its line of the index, and everything else as deflated JSON."""

    key: EpisodeKey
    digest: str
    line: Mapping[str, Any]
    block: bytes

    @property
    def text(self) -> str:
        """The block as written into the page."""
        return base64.b64encode(self.block).decode()


@dataclass
class RunContent:
    """One run of a page. `report` and `observed` are None where there is no run folder, as in `graphwalk play`."""

    name: str
    suite: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    report: Report | None = None
    observed: Observations | None = None
    episodes: list[Episode] = field(default_factory=list)


class EpisodeReader:
    """A reader of records that builds the episodes of a page, each once."""

    def __init__(self, suite_name: str, wanted: Callable[[Record], bool] = lambda record: True) -> None:
        self.suite = suite_named(suite_name)
        self._wanted = wanted
        self._read = 0
        self._found: dict[EpisodeKey, Episode] = {}

    def passing(self, records: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield the records, including those read before."""
        for number, record in enumerate(records):
            if number >= self._read:
                if self._wanted(record):
                    self.take(record)
                self._read = number + 1
            yield record

    def take(self, record: Record) -> None:
        key = key_of(dict(record))
        block = deflated(json.dumps(episode_content(record, self.suite), separators=(",", ":")))
        self._found[key] = Episode(key, record["task"].get("graph_digest", ""), _line(record), block)

    def episodes(self) -> list[Episode]:
        """Return the episodes in order of their keys; of a repeated episode, the last one."""
        return [self._found[key] for key in sorted(self._found)]


def content_of(
    folder: RunFolder, wanted: Callable[[Record], bool] = lambda record: True, reader: EpisodeReader | None = None
) -> RunContent:
    """Return a run with the episodes that fit; tables and plots are of the whole run.

    `reader`: a reader of the beginning of the same log, to build only new episodes.
    """
    manifest = folder.read_manifest()
    reader = reader or EpisodeReader(manifest["config"]["suite"]["name"], wanted)
    report, observed = measured(folder, reader.passing(folder.records()))
    return RunContent(folder.path.name, reader.suite.name, _facts(manifest), report, observed, reader.episodes())


def episodes_of(records: Iterable[Record], suite_name: str) -> list[Episode]:
    """Return the episodes in order of their keys; of a repeated episode, the last one."""
    reader = EpisodeReader(suite_name)
    for record in records:
        reader.take(record)
    return reader.episodes()


def deflated(text: str) -> bytes:
    packer = zlib.compressobj(6, zlib.DEFLATED, _RAW)
    return packer.compress(text.encode()) + packer.flush()


def inflated(block: bytes) -> str:
    return zlib.decompress(block, _RAW).decode()


def _line(record: Record) -> dict[str, Any]:
    """Return the fields that episodes are searched by."""
    task, score, usage = record["task"], record["score"] or {}, record["usage"]
    tokens = [usage[name] for name in ("input_tokens", "output_tokens") if usage.get(name) is not None]
    return {
        "kind": task["template"],
        "group": task.get("category") or "",
        "question": task["question"][:_LONGEST_QUESTION],
        "reference": task.get("reference_calls"),
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
        "answer": _said(record["answer"]),
    }


def _wrong_steps(score: Mapping[str, Any]) -> str:
    """Return the most frequent class of errors, if a score counts several."""
    counts = {name: score.get(name) or 0 for name in ("missing_prefix", "invalid_items", "hallucinations")}
    counts["false_negatives"] = score.get("false_negatives") or 0
    worst = max(counts, key=lambda name: counts[name])
    return worst if counts[worst] else ""


def _said(answer: Any) -> str:
    if answer is None:
        return ""
    return (answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False))[:_LONGEST_ANSWER]


def _facts(manifest: Mapping[str, Any]) -> dict[str, Any]:
    config = manifest["config"]
    return {
        "experiment": manifest.get("name", ""),
        "description": config.get("description") or "",
        "created": manifest.get("created", ""),
        "version": manifest.get("graphwalk_version", ""),
        "seed": config.get("seed"),
        "store": config.get("store"),
        "models": list(config.get("models", ())),
        "settings": list(config.get("settings", ())),
        "planned": own_episodes(manifest),
        "tags": list(config.get("tags", ())),
    }
