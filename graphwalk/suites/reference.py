"""Reference figures: walks of the scripted expert, baselines that need no run, and the paper's figures."""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from graphwalk.models.scripted import Ask, Policy
from graphwalk.models.tokens import count_tokens
from graphwalk.reports.suite_report import BASELINE, REFERENCE, ResultRecord
from graphwalk.resources import data_path
from graphwalk.tools.toolbox import Toolbox
from graphwalk.types.chat import Message, ToolCall
from graphwalk.types.episode import Task, ToolResult

T = TypeVar("T", bound=Task)


@dataclass(frozen=True, slots=True)
class ReferenceWalk:
    """The expert's answer with its turns (including the answer) and tool calls (without notes).

    Tokens are those of a model that makes the same calls. Every turn sends the whole conversation again.
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


class WalkCounter:
    """Turns, calls and tokens of a walk so far; `prompt_tokens` counts prompt and tools."""

    def __init__(self, prompt_tokens: int) -> None:
        self._turns = self._calls = self._input = self._output = 0
        self._context = prompt_tokens

    def turn(self) -> None:
        """Count a turn, which sends the whole conversation so far."""
        self._turns += 1
        self._input += self._context

    def call(self, calls: tuple[ToolCall, ...]) -> None:
        """Count the tool calls that the model writes."""
        written = _tokens(Message("assistant", tool_calls=calls))
        self._output += written
        self._context += written

    def result(self, tokens: int, *, note: bool = False) -> None:
        """Count the result of one call."""
        self._calls += not note
        self._context += tokens

    def close(self, answer: str) -> ReferenceWalk:
        """Return the walk that ends with this answer."""
        return ReferenceWalk(answer, self._turns, self._calls, self._input, self._output + count(answer))


def prompt_tokens(toolbox: Toolbox, prompt: Sequence[Message]) -> int:
    """Return the tokens of prompt and tools."""
    tools = sum(count(json.dumps(tool.as_openai(), ensure_ascii=False)) for tool in toolbox.specs)
    return tools + sum(_tokens(message) for message in prompt)


async def drive(agent: Policy, toolbox: Toolbox, prompt: Sequence[Message] = ()) -> ReferenceWalk:
    """Run a scripted agent on the tools. Raise StoreError if a tool fails, TypeError if the agent yields text."""
    counter = WalkCounter(prompt_tokens(toolbox, prompt))
    results: list[str] | None = None
    while True:
        counter.turn()
        try:
            asks = next(agent) if results is None else agent.send(results)
        except StopIteration as end:
            return counter.close(end.value)
        if isinstance(asks, str):
            raise TypeError("a scripted agent that uses tools yields calls, not text")
        calls = calls_of(asks)
        counter.call(calls)
        given: Sequence[ToolResult]
        if toolbox.ordered:
            given = [await toolbox.call(call) for call in calls]
        else:
            given = await asyncio.gather(*map(toolbox.call, calls))
        for result in given:
            counter.result(count(result.content), note=result.is_note)
        results = [result.content for result in given]


def paper_figures() -> Any:
    """Return the figures printed in the GraphWalk paper."""
    return json.loads((data_path("templates") / "reports" / "graphwalk-paper.json").read_text("utf-8"))


def baseline_result(result: ResultRecord, model: str, score: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of a baseline on the task of `result`, without turns, calls and tokens."""
    fields = {"model": model, "setting": BASELINE, "repeat": 0, "exit_status": "answered", "score": score}
    return {**result, **fields, "turns": 0, "tool_calls": 0, "usage": {}, "seconds": None, "tool_seconds": None}


def expert_result(result: ResultRecord, score: Mapping[str, Any]) -> Iterator[ResultRecord]:
    """Yield the result of the scripted expert, if the task has a reference walk."""
    task = result["task"]
    if task.get("reference_calls") is not None:
        yield {
            **baseline_result(result, REFERENCE, score),
            "turns": task.get("reference_turns"),
            "tool_calls": task["reference_calls"],
            "usage": {
                "input_tokens": task.get("reference_input_tokens"),
                "output_tokens": task.get("reference_output_tokens"),
            },
        }


def calls_of(asks: Sequence[Ask]) -> tuple[ToolCall, ...]:
    """Return the calls of one turn in the form that a model writes."""
    arguments = (
        a.arguments if isinstance(a.arguments, str) else json.dumps(a.arguments, ensure_ascii=False) for a in asks
    )
    return tuple(
        ToolCall(f"call_{n}", ask.tool, text) for n, (ask, text) in enumerate(zip(asks, arguments, strict=True))
    )


def _tokens(message: Message) -> int:
    """Return the tokens of text and calls, without a provider's message overhead."""
    called = (text for call in message.tool_calls for text in (call.name, call.arguments))
    return sum(count(text) for text in (message.content or "", *called))


def count(text: str) -> int:
    """Count tokens by the built-in rule, so that reference figures do not depend on installed packages."""
    return count_tokens(text)[0]
