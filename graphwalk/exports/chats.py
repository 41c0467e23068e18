"""Messages of episodes: chats in the format of OpenAI."""

import json
from pathlib import Path

from graphwalk.exports.episodes import Episodes, calls_of, messages_of, outcome_of
from graphwalk.files.writing import write_whole
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
