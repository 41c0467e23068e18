"""What was said in an episode, in the order in which it was said."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from graphwalk.exports.episodes import whole
from graphwalk.runs.result import Result
from graphwalk.types.chat import Message, ToolCall
from graphwalk.types.episode import ToolResult, Turn

LANGUAGE_MODELS_NOT = ("scripted/", "human/", "replay/")
"""How names of players begin that are no language models."""


class Said(NamedTuple):
    """One message; `turn` and `result` are what it comes from, where it comes from one."""

    message: Message
    turn: Turn | None = None
    result: ToolResult | None = None


def said(result: Result) -> Iterator[Said]:
    """Prompt, replies, tool results and later messages of the user; nothing is left out or summed up."""
    yield from (Said(message) for message in result.trajectory.prompt)
    for turn in result.trajectory.turns:
        yield Said(turn.message, turn)
        for found in turn.results:
            yield Said(Message("tool", found.content, tool_call_id=found.call.id), turn, found)
        if turn.next_user is not None:
            yield Said(Message("user", turn.next_user), turn)


def calls_of(turn: Turn) -> list[ToolCall]:
    """The calls of a turn, once each, those first that the message has: others were read in its text."""
    calls = {call.id: call for call in (*turn.message.tool_calls, *(found.call for found in turn.results))}
    return list(calls.values())


def read_arguments(call: ToolCall) -> tuple[dict[str, Any], str | None]:
    """(the arguments, None), or ({}, what is wrong with them)."""
    try:
        arguments = json.loads(call.arguments or "{}", parse_constant=str)
    except (ValueError, RecursionError) as error:
        return {}, f"the arguments are no JSON: {error}"
    if not isinstance(arguments, dict):
        return {}, f"the arguments are no JSON object, but {type(arguments).__name__}"
    return whole(arguments), None


def is_language_model(name: str) -> bool:
    return not name.startswith(LANGUAGE_MODELS_NOT)
