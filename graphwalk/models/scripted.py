"""Models without a language model: scripted agents, and the replay of an episode.

A policy replaces the language model in the same loop, with the same prompts and tools. It is a generator: it yields
tool calls, receives their results, and returns an answer. It sees what a language model sees (the question's
parameters, the schema, tool results) and nothing else.
"""

import json
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, NamedTuple

from graphwalk.errors import ModelError
from graphwalk.models.chat import CallOptions, Message, Model, Reply, ToolCall, ToolSpec
from graphwalk.models.trajectory import Trajectory

OVER = "the recorded trajectory is over"
NO_ANSWER = "[]"
"""The answer of a policy that must answer before it has an answer."""


class Ask(NamedTuple):
    """A tool call of a policy. Text `arguments` are sent unchanged, for policies that make mistakes."""

    tool: str
    arguments: Mapping[str, Any] | str

    def call(self, call_id: str) -> ToolCall:
        """Return the call in the form that a model writes."""
        arguments = self.arguments
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments, ensure_ascii=False)
        return ToolCall(call_id, self.tool, arguments)


Policy = Generator[list[Ask], list[str], str]
"""Yields the calls of one turn; receives the result texts; returns the answer."""


class AnswerNow(Exception):  # noqa: N818 (a signal, as GeneratorExit is)
    """Signal to a policy that tools are no longer offered. It may catch it and answer; else the answer is NO_ANSWER."""


class ScriptedModel(Model):
    """A model that plays one policy in one episode.

    With `parallel_tool_calls=False` a reply has one call, so that experts may exceed the usual turn limit of 30. A
    request without tools means that the turns are used up.
    Usage is unknown.
    """

    def __init__(self, name: str, policy: Policy) -> None:
        self.name = name
        self._policy = policy
        self._move: list[ToolCall] | str | None = None
        """The policy's last move: calls that wait for results, or the answer. None before the first turn."""
        self._calls = 0
        self._results: dict[str, str] = {}
        """Call id → result as first seen; compaction may shorten it later."""

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        """Return the policy's next move."""
        for message in messages:
            if message.tool_call_id is not None:
                self._results.setdefault(message.tool_call_id, message.content or "")

        if self._move is None:
            self._advance(None)
        while isinstance(self._move, list) and all(call.id in self._results for call in self._move):
            self._advance([self._results[call.id] for call in self._move])
        if isinstance(self._move, list) and not tools:
            self._move = self._forced_answer()

        if not isinstance(self._move, list):
            return Reply(Message("assistant", self._move), finish_reason="stop", model=self.name)
        calls = [call for call in self._move if call.id not in self._results]
        if options.parallel_tool_calls is False:
            calls = calls[:1]
        return Reply(Message("assistant", tool_calls=tuple(calls)), finish_reason="tool_calls", model=self.name)

    async def close(self) -> None:
        """End the policy."""
        self._policy.close()

    def _advance(self, results: list[str] | None) -> None:
        try:
            asks = next(self._policy) if results is None else self._policy.send(results)
        except StopIteration as end:
            self._move = end.value
        else:
            self._move = [ask.call(f"call_{number}") for number, ask in enumerate(asks, self._calls + 1)]
            self._calls += len(asks)

    def _forced_answer(self) -> str:
        try:
            self._policy.throw(AnswerNow())
        except StopIteration as end:
            return str(end.value)
        except AnswerNow:
            return NO_ANSWER
        self._policy.close()
        return NO_ANSWER


class ScriptedChatModel(Model):
    """A model that answers the last question by a policy, from the messages since then: it has no state."""

    def __init__(self, name: str, policy: Callable[[str], Policy]) -> None:
        self.name = name
        self._policy = policy

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        conversation = list(messages)
        if [message.role for message in conversation[-2:]] == ["tool", "user"]:
            conversation.pop()  # the request for an answer when a limit is reached
        start = 0
        for number, message in enumerate(conversation):
            if message.role == "user":
                start = number
        script = ScriptedModel(self.name, self._policy(conversation[start].content or ""))
        reply = await script.complete(conversation[start:], tools, options)
        if options.on_text is not None:
            for word in re.findall(r"\s*\S+|\s+$", reply.message.content or ""):
                await options.on_text(word)
        return reply


class ReplayModel(Model):
    """A model that returns the replies of one trajectory in order, then raises ModelError."""

    def __init__(self, name: str, trajectory: Trajectory) -> None:
        self.name = name
        self._replies = (Reply(turn.message, turn.usage, turn.finish_reason, turn.seconds) for turn in trajectory.turns)

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        reply = next(self._replies, None)
        if reply is None:
            raise ModelError(OVER, hint="replay with the settings of the recorded run")
        return reply
