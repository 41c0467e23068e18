"""Reference walks: what the scripted expert takes with the tools, without a model or an agent."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from graphwalk.models.scripted import Ask, Policy
from graphwalk.models.tokens import count_tokens
from graphwalk.tools.toolbox import Toolbox
from graphwalk.types.chat import Message, ToolCall
from graphwalk.types.episode import Task, ToolResult

T = TypeVar("T", bound=Task)


@dataclass(frozen=True, slots=True)
class ReferenceWalk:
    """An answer, the turns it took, the answer among them, and the tool calls without notes.

    The tokens are those of a model that walks in the same way: it is sent prompt, tools and all that was said so far
    in every turn, and writes calls and the answer.
    """

    answer: str
    turns: int
    calls: int
    input_tokens: int = 0
    output_tokens: int = 0

    def added_to(self, task: T) -> T:
        """Return the task with these reference figures."""
        calls = {"reference_turns": self.turns, "reference_calls": self.calls}
        tokens = {"reference_input_tokens": self.input_tokens, "reference_output_tokens": self.output_tokens}
        return task.model_copy(update={**calls, **tokens})


class Account:
    """What a walk has taken so far: turns, calls, and the tokens of a model that walks in the same way.

    `told`: the tokens that a model would be told first (`tokens_told`).
    """

    def __init__(self, told: int) -> None:
        self._turns = self._calls = self._read = self._written = 0
        self._sent = told

    def turn(self) -> None:
        """The model is sent all that was said so far."""
        self._turns += 1
        self._read += self._sent

    def say(self, calls: tuple[ToolCall, ...]) -> None:
        """The model calls tools."""
        said = _tokens(Message("assistant", tool_calls=calls))
        self._written += said
        self._sent += said

    def show(self, tokens: int, *, note: bool = False) -> None:
        """The model will be sent the result of a call."""
        self._calls += not note
        self._sent += tokens

    def close(self, answer: str) -> ReferenceWalk:
        """Return the walk that ends with this answer."""
        return ReferenceWalk(answer, self._turns, self._calls, self._read, self._written + count(answer))


def tokens_told(toolbox: Toolbox, prompt: Sequence[Message]) -> int:
    """Tokens of prompt and tools."""
    tools = sum(count(json.dumps(tool.as_openai(), ensure_ascii=False)) for tool in toolbox.specs)
    return tools + sum(_tokens(message) for message in prompt)


async def drive(agent: Policy, toolbox: Toolbox, prompt: Sequence[Message] = ()) -> ReferenceWalk:
    """Let a scripted agent use the tools. Raise StoreError if one fails, TypeError if the agent holds a dialogue."""
    account = Account(tokens_told(toolbox, prompt))
    results: list[str] | None = None
    while True:
        account.turn()
        try:
            asks = next(agent) if results is None else agent.send(results)
        except StopIteration as end:
            return account.close(end.value)
        if isinstance(asks, str):
            raise TypeError("a scripted agent that uses tools yields calls, not text")
        asked = calls_of(asks)
        account.say(asked)
        given = await _results(toolbox, asked)
        for result in given:
            account.show(count(result.content), note=result.is_note)
        results = [result.content for result in given]


def calls_of(asks: Sequence[Ask]) -> tuple[ToolCall, ...]:
    """The calls of one turn as a model writes them."""
    return tuple(ToolCall(f"call_{n}", ask.tool, _text(ask)) for n, ask in enumerate(asks))


async def _results(toolbox: Toolbox, calls: Sequence[ToolCall]) -> Sequence[ToolResult]:
    if toolbox.ordered:
        return [await toolbox.call(call) for call in calls]
    return await asyncio.gather(*map(toolbox.call, calls))


def _text(ask: Ask) -> str:
    return ask.arguments if isinstance(ask.arguments, str) else json.dumps(ask.arguments, ensure_ascii=False)


def _tokens(message: Message) -> int:
    """Of what is said and called; the frame that a provider puts around it is left out."""
    called = (text for call in message.tool_calls for text in (call.name, call.arguments))
    return sum(count(text) for text in (message.content or "", *called))


def count(text: str) -> int:
    """Count tokens by the rule, whatever is installed: reference figures are the same everywhere."""
    return count_tokens(text)[0]
