"""One episode as the page shows it: question, prompt, turns with their calls, answer beside target, scene."""

import json
from collections.abc import Hashable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any, cast

from graphwalk.report.scenes import Scene, SceneStep, StateTable
from graphwalk.suites.suite import Suite
from graphwalk.toolbox.encodings import decode_notes, read_rows
from graphwalk.types.chat import Message, Usage
from graphwalk.types.episode import ToolResult, Trajectory, Turn
from graphwalk.types.wire import from_dict

_MOST_ROWS = 300
"""Rows of one tool result that the page holds."""
_MOST_COMPARED = 2_000


def episode_content(record: Mapping[str, Any], suite: Suite[Any, Any]) -> dict[str, Any]:
    """All of an episode that is not in the index, as JSON values. Texts are as they were logged, and never markup."""
    trajectory = from_dict(Trajectory, record["trajectory"])
    scene = suite.scene(record) or Scene()
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
        "world": {name: value for name, value in record.get("world", {}).items() if not isinstance(value, dict | list)},
        "comparison": _fields(compared),
        "scene": _scene(scene),
    }


def plain_comparison(answer: Any, gold: Any) -> StateTable:
    """For suites that compare nothing themselves: item by item where both are lists, else the two values."""
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
    """Without what is empty; cell 0 is a cell."""
    told = {name: value for name, value in _fields(step).items() if value or (name == "cell" and value is not None)}
    return {**told, **({"table": _fields(step.table)} if step.table else {})}


def _fields(one: Any) -> dict[str, Any]:
    """The fields of a dataclass as they are; `asdict` would copy all that is in them, ten times as slowly."""
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
    """The object that a call was given; the text itself where it is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict) else text
