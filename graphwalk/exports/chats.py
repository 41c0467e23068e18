"""Messages of episodes: chats in the format of OpenAI, and session traces of the Hugging Face Hub."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graphwalk.exports.episodes import (
    EpisodeMessage,
    Episodes,
    calls_of,
    messages_of,
    outcome_of,
    without_none,
    write_files,
)
from graphwalk.files import write_whole
from graphwalk.runs.result import Result


def export_chats(episodes: Episodes, out: Path) -> None:
    """Write chats in OpenAI's format, one JSON line each.

    Each has `messages`, and `metadata` of the episode. Arguments of calls are the model's text.
    """

    def line(result: Result) -> str:
        metadata = {**result.key._asdict(), **outcome_of(result)}
        return json.dumps({"messages": _messages(result), "metadata": metadata}) + "\n"

    write_whole(out, map(line, episodes))


def _messages(result: Result) -> list[dict[str, object]]:
    messages: list[dict[str, object]] = []
    for message, turn, _ in messages_of(result):
        wire = message.as_openai()
        if turn is not None and message.role == "assistant" and not message.tool_calls and (calls := calls_of(turn)):
            wire["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in calls
            ]
        messages.append(wire)
    return messages


def export_sts(episodes: Episodes, out: Path) -> None:
    """Write session traces of the Hugging Face Hub as JSONL.

    There is one file per model: --out is a new folder, or NAME.jsonl for one model. With --per-episode: one file each.
    """
    write_files(episodes, out, ".jsonl", lambda result: _lines(result, episodes.manifest))


def _lines(result: Result, manifest: dict[str, Any]) -> Iterator[str]:
    key = result.key
    question = f": {result.task.get('question', '').splitlines()[0][:100]}" if result.task else ""
    header = {
        "type": "session",
        "harness": "graphwalk",
        "id": "/".join([manifest["run_id"], *map(str, key)]),
        "name": f"{key.task_id}{question}",
        "version": manifest["graphwalk_version"],
        "model": key.model,
        "setting": key.setting,
        **outcome_of(result),
    }
    yield json.dumps(header) + "\n"
    for one in messages_of(result):
        yield json.dumps({"type": "message", "message": _message(one, key.model)}) + "\n"


def _message(one: EpisodeMessage, model: str) -> dict[str, Any]:
    message, turn, _ = one
    spoken = message.role == "assistant" and turn is not None
    calls = calls_of(turn) if spoken and turn is not None else ()
    return without_none(
        {
            "role": message.role,
            "content": message.content or "",
            "reasoningContent": message.reasoning,
            "toolCalls": [{"id": c.id, "function": {"name": c.name, "arguments": c.arguments}} for c in calls] or None,
            "toolCallId": message.tool_call_id,
            "model": model if spoken else None,
        }
    )
