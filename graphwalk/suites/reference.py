"""Reference figures: walks of the scripted expert, baselines that need no run, and the paper's figures."""

import json
from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from graphwalk.models.scripted import Ask, Policy
from graphwalk.models.tokens import count_tokens
from graphwalk.reports.suite_report import BASELINE, REFERENCE, ResultRecord
from graphwalk.resources import data_path
from graphwalk.tools.toolbox import Toolbox
from graphwalk.types.chat import Message, ToolCall
from graphwalk.types.episode import Task

T = TypeVar("T", bound=Task)


class Answer(NamedTuple):
    """The result of a call for a scripted agent, with the tokens of its text."""

    result: Any
    tokens: int
    is_note: bool = False


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


def prompt_tokens(toolbox: Toolbox, prompt: Sequence[Message]) -> int:
    """Return the tokens of prompt and tools."""
    tools = sum(count(json.dumps(tool.as_openai(), ensure_ascii=False)) for tool in toolbox.specs)
    return tools + sum(_tokens(message) for message in prompt)


async def drive(agent: Policy, toolbox: Toolbox, prompt: Sequence[Message] = ()) -> ReferenceWalk:
    """Run a scripted agent on the tools. Raise StoreError if a tool fails, TypeError if the agent yields text."""

    async def answer(call: ToolCall) -> Answer:
        result = await toolbox.call(call)
        return Answer(result.content, count(result.content), result.is_note)

    return await drive_with(agent, answer, prompt_tokens(toolbox, prompt))


async def drive_with(
    agent: Generator[Any, Any, str], answer: Callable[[ToolCall], Awaitable[Answer]], context: int
) -> ReferenceWalk:
    """Run a scripted agent whose calls `answer` answers; `context` counts the tokens of prompt and tools."""
    turns = calls = read = written = 0
    results: list[Any] | None = None
    while True:
        turns += 1
        read += context
        try:
            asks = agent.send(results)
        except StopIteration as end:
            return ReferenceWalk(end.value, turns, calls, read, written + count(end.value))
        if isinstance(asks, str):
            raise TypeError("a scripted agent that uses tools yields calls, not text")
        tool_calls = calls_of(asks)
        answers = [await answer(call) for call in tool_calls]
        tokens = _tokens(Message("assistant", tool_calls=tool_calls))
        written += tokens
        context += tokens + sum(result.tokens for result in answers)
        calls += sum(not result.is_note for result in answers)
        results = [result.result for result in answers]


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
    return tuple(ask.call(f"call_{number}") for number, ask in enumerate(asks))


def _tokens(message: Message) -> int:
    """Return the tokens of text and calls, without a provider's message overhead."""
    called = (text for call in message.tool_calls for text in (call.name, call.arguments))
    return sum(count(text) for text in (message.content or "", *called))


def count(text: str) -> int:
    """Count tokens by the built-in rule, so that reference figures do not depend on installed packages."""
    return count_tokens(text)[0]
