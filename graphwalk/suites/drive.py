"""Playing against tools without a model or an agent: how par is found."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from graphwalk.models.players.policy import Ask, Policy
from graphwalk.models.tokens import count_tokens
from graphwalk.toolbox.toolbox import Toolbox
from graphwalk.types.chat import Message, ToolCall
from graphwalk.types.episode import Task, ToolResult

T = TypeVar("T", bound=Task)


@dataclass(frozen=True, slots=True)
class Played:
    """A player's answer, the turns it took, the answer among them, and its tool calls without notes.

    The tokens are those of a model that walks in the same way: it is sent prompt, tools and all that was said so far
    in every turn, and writes calls and the answer.
    """

    answer: str
    turns: int
    calls: int
    input_tokens: int = 0
    output_tokens: int = 0

    def as_par_of(self, task: T) -> T:
        """The task with this walk as its par."""
        par = {"par_turns": self.turns, "par_calls": self.calls}
        tokens = {"par_input_tokens": self.input_tokens, "par_output_tokens": self.output_tokens}
        return task.model_copy(update={**par, **tokens})


async def drive(player: Policy, toolbox: Toolbox, prompt: Sequence[Message] = ()) -> Played:
    """Let a player play against the tools. StoreError passes through; TypeError for a player that holds a dialogue.

    `prompt` is what a model would be told first: it counts for the tokens alone.
    """
    turns = calls = read = written = 0
    sent = sum(_tokens(message) for message in prompt)
    sent += sum(_count(json.dumps(tool.as_openai(), ensure_ascii=False)) for tool in toolbox.specs)
    results: list[str] = []
    while True:
        turns += 1
        read += sent
        try:
            asks = player.send(results) if turns > 1 else next(player)
        except StopIteration as end:
            return Played(end.value, turns, calls, read, written + _count(end.value))
        if isinstance(asks, str):
            raise TypeError("a player that plays against tools yields calls, not text")
        asked = tuple(ToolCall(f"call_{n}", ask.tool, _text(ask)) for n, ask in enumerate(asks))
        given = await _results(toolbox, asked)
        calls += sum(not result.is_note for result in given)
        results = [result.content for result in given]
        said = _tokens(Message("assistant", tool_calls=asked))
        written += said
        sent += said + sum(map(_count, results))


async def _results(toolbox: Toolbox, calls: Sequence[ToolCall]) -> Sequence[ToolResult]:
    if toolbox.ordered:
        return [await toolbox.call(call) for call in calls]
    return await asyncio.gather(*map(toolbox.call, calls))


def _text(ask: Ask) -> str:
    return ask.arguments if isinstance(ask.arguments, str) else json.dumps(ask.arguments, ensure_ascii=False)


def _tokens(message: Message) -> int:
    """Of what is said and called; the frame that a provider puts around it is left out."""
    called = (text for call in message.tool_calls for text in (call.name, call.arguments))
    return sum(_count(text) for text in (message.content or "", *called))


def _count(text: str) -> int:
    """By the rule, whatever is installed: par must be the same everywhere."""
    return count_tokens(text)[0]
