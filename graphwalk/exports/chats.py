"""Chats in OpenAI's format, one episode per line."""

import json
from collections.abc import Iterator
from pathlib import Path

from graphwalk.exports.episodes import Episodes, calls_of, messages_of
from graphwalk.files import write_whole
from graphwalk.runs.result import Result


def export_chats(episodes: Episodes, out: Path) -> None:
    """Write chats in OpenAI's format, one JSON line each.

    Each has `messages`, and `metadata` of the episode. Arguments of calls are the model's text.
    """
    write_whole(out, _lines(episodes))


def _lines(episodes: Episodes) -> Iterator[str]:
    for result in episodes:
        yield json.dumps({"messages": _messages(result), "metadata": _metadata(result)}) + "\n"


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


def _metadata(result: Result) -> dict[str, object]:
    return {
        **result.key._asdict(),
        "exit_status": str(result.exit_status),
        "answer": result.answer,
        "target": result.task.get("gold"),
        "score": result.score,
    }
