"""The Agent Trajectory Interchange Format (ATIF) 1.8: a JSON object for each episode."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graphwalk.exports.episodes import (
    Episodes,
    calls_of,
    is_language_model,
    outcome_of,
    read_arguments,
    without_none,
    write_files,
)
from graphwalk.runs.result import Result
from graphwalk.types.chat import ToolCall, Usage
from graphwalk.types.episode import ToolResult, Turn

VERSION = "ATIF-v1.8"
_SOURCES = {"system": "system", "user": "user", "assistant": "agent", "tool": "system"}


def export_atif(episodes: Episodes, out: Path) -> None:
    """Write ATIF 1.8 trajectories, one JSON line each.

    There is one file per model: --out is a new folder, or NAME.jsonl for one model. With --per-episode: one JSON file
    each.
    """
    suffix, indent = (".json", 1) if episodes.per_episode else (".jsonl", None)
    manifest = episodes.manifest
    write_files(episodes, out, suffix, lambda result: [json.dumps(trajectory(result, manifest), indent=indent), "\n"])


def trajectory(result: Result, manifest: dict[str, Any]) -> dict[str, Any]:
    """Return an episode as an ATIF object. Keys unknown to the format are in `extra`."""
    key, usage = result.key, result.usage
    # An episode that failed before its prompt was written has no step, and the format asks for one.
    steps = list(_steps(result)) or [{"source": "user", "message": result.task.get("question", "")}]
    return {
        "schema_version": VERSION,
        "session_id": manifest["run_id"],
        "trajectory_id": "/".join([manifest["run_id"], *map(str, key)]),
        "agent": {"name": "graphwalk", "version": manifest["graphwalk_version"], "model_name": key.model},
        "steps": [{"step_id": number, **step} for number, step in enumerate(steps, 1)],
        "final_metrics": {**_metrics(usage, "total_"), "total_steps": len(steps), "extra": {"seconds": result.seconds}},
        "extra": {
            **key._asdict(),
            "suite": manifest["config"]["suite"]["name"],
            "template": result.task.get("template"),
            **outcome_of(result),
            "error": result.trajectory.error,
        },
    }


def _steps(result: Result) -> Iterator[dict[str, Any]]:
    is_model = is_language_model(result.key.model)
    for message in result.trajectory.prompt:
        copied = {"is_copied_context": True} if message.role == "assistant" else {}
        yield {"source": _SOURCES[message.role], "message": message.content or "", **copied}
    for turn in result.trajectory.turns:
        yield _agent_step(turn, is_model)
        if turn.next_user is not None:
            yield {"source": "user", "message": turn.next_user}


def _agent_step(turn: Turn, is_model: bool) -> dict[str, Any]:
    """Return a reply. One of a scripted agent has neither metrics nor reasoning."""
    spent = {"reasoning_content": turn.message.reasoning, "metrics": _metrics(turn.usage) or None} if is_model else {}
    results = [_observation(result) for result in turn.results]
    return without_none(
        {
            "source": "agent",
            "message": turn.message.content or "",
            **spent,
            "tool_calls": [_call(call) for call in calls_of(turn)] or None,
            "observation": {"results": results} if results else None,
            "llm_call_count": int(is_model),
            "extra": without_none({"seconds": turn.seconds, "finish_reason": turn.finish_reason or None}),
        }
    )


def _call(call: ToolCall) -> dict[str, Any]:
    arguments, wrong = read_arguments(call)
    wire = {"tool_call_id": call.id, "function_name": call.name, "arguments": arguments}
    return wire if wrong is None else {**wire, "extra": {"parse_error": wrong, "raw_arguments": call.arguments}}


def _observation(result: ToolResult) -> dict[str, Any]:
    extra = {"error": result.error, "rows": result.rows, "seconds": result.seconds}
    return {"source_call_id": result.call.id, "content": result.content, "extra": without_none(extra)}


def _metrics(usage: Usage, prefix: str = "") -> dict[str, Any]:
    return without_none(
        {
            f"{prefix}prompt_tokens": usage.input_tokens,
            f"{prefix}completion_tokens": usage.output_tokens,
            f"{prefix}cached_tokens": usage.cached_tokens,
            f"{prefix}cost_usd": usage.cost,
        }
    )
