"""Episodes as chats: what a model was sent and what it said, in the form that chat templates take."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from graphwalk.agent import answer_now, conversation, summary_message
from graphwalk.config.agent import AgentConfig
from graphwalk.models.text_protocol import TextProtocol, written_out
from graphwalk.types.chat import CallOptions, Message, ToolSpec
from graphwalk.types.episode import Trajectory, Turn

WireMessage = dict[str, Any]


@dataclass(frozen=True)
class ChatForm:
    """How chats are written: arguments of calls as JSON objects (TRL, chat templates) or as JSON text (the APIs); calls
    in the message's own field or in its text.
    """

    arguments: Literal["object", "string"] = "object"
    protocol: Literal["native", "text"] = "native"


@dataclass(frozen=True)
class Chat:
    """One conversation that ends with what the model said.

    `first_new` is the place of the first reply that no earlier chat of the episode ends with or goes through: there are
    several where what the model was sent was rewritten on the way (compaction, reminders of the text protocol).
    """

    messages: list[WireMessage]
    first_new: int


class NoObjectError(ValueError):
    """Arguments of a call that are no JSON object, and cannot be written as one."""


def thinking_aloud(trajectory: Trajectory, thoughts: Sequence[str]) -> Trajectory:
    """The same with a thought, or what a provider showed of the reasoning, before what each turn says."""
    spoken = []
    for turn, thought in zip(trajectory.turns, thoughts, strict=True):
        parts = (thought or turn.message.reasoning, turn.message.content)
        content = "\n\n".join(part for part in parts if part) or None
        spoken.append(replace(turn, message=replace(turn.message, content=content)))
    return replace(trajectory, turns=tuple(spoken))


def without_words(trajectory: Trajectory) -> Trajectory:
    """The same without what was said beside tool calls."""
    quiet = (
        replace(t, message=replace(t.message, content=None)) if t.message.tool_calls else t for t in trajectory.turns
    )
    return replace(trajectory, turns=tuple(quiet))


def chats_of(trajectory: Trajectory, tools: Sequence[ToolSpec], agent: AgentConfig, form: ChatForm) -> Iterator[Chat]:
    """As few chats as hold every reply in the context that it was given in: one, unless that context was rewritten.

    NoObjectError where arguments are to be objects and are none.
    """
    waiting: list[WireMessage] = []
    first_new = 0
    for number, turn in enumerate(trajectory.turns):
        sent = _wire(_sent(trajectory, number, agent), tools if not turn.forced else (), agent, form)
        if sent[: len(waiting)] != waiting:
            yield Chat(waiting, first_new)
            waiting = []
        first_new = first_new if waiting else len(sent)
        waiting = [*sent, _message(_said(turn, form), form)]
    if waiting:
        yield Chat(waiting, first_new)


def tools_of(tools: Sequence[ToolSpec], form: ChatForm) -> list[dict[str, Any]]:
    """The tools beside a chat; none where the prompt describes them."""
    return [tool.as_openai() for tool in tools] if form.protocol == "native" else []


def _sent(trajectory: Trajectory, number: int, agent: AgentConfig) -> list[Message]:
    """Return the messages that a turn was asked with (`graphwalk.agent`)."""
    turn = trajectory.turns[number]
    messages = conversation(trajectory.prompt, trajectory.turns[:number], agent)
    if turn.summary is not None:
        messages = [*trajectory.prompt, summary_message(turn.summary, agent)]
    return [*messages, answer_now(agent)] if turn.forced else messages


def _said(turn: Turn, form: ChatForm) -> Message:
    message = replace(turn.message, reasoning=None)
    return written_out(message) if form.protocol == "text" and message.tool_calls else message


def _wire(
    messages: Sequence[Message], tools: Sequence[ToolSpec], agent: AgentConfig, form: ChatForm
) -> list[WireMessage]:
    if form.protocol == "text":
        options = CallOptions(parallel_tool_calls=agent.parallel_tool_calls)
        messages, _, _ = TextProtocol("text", agent.texts).outgoing(messages, tools, options)
    return [_message(message, form) for message in messages]


def _message(message: Message, form: ChatForm) -> WireMessage:
    wire = message.as_openai()
    wire["content"] = message.content or ""
    if form.protocol == "text":
        return {"role": message.role, "content": wire["content"]}
    if form.arguments == "object":
        for call in wire.get("tool_calls", ()):
            call["function"]["arguments"] = _object(call["function"]["arguments"])
    return wire


def _object(arguments: str) -> dict[str, Any]:
    try:
        read = json.loads(arguments or "{}")
    except (ValueError, RecursionError) as error:
        raise NoObjectError(arguments[:80]) from error
    if not isinstance(read, dict):
        raise NoObjectError(arguments[:80])
    return read
