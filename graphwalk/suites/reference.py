"""Reference figures: walks of the scripted expert, baselines that need no run, and the paper's figures."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from graphwalk.files.resources import data_path
from graphwalk.models.scripted import Policy
from graphwalk.models.tokens import count_tokens
from graphwalk.reports.suite_report import BASELINE, REFERENCE, ResultRecord
from graphwalk.tools.toolbox import Toolbox
from graphwalk.types.chat import Message, ToolCall
from graphwalk.types.episode import TaskRecord, ToolResult

T = TypeVar("T", bound=TaskRecord)


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


class CachedTools:
    """Tools whose calls change nothing: walks on the same graph repeat most calls, and each is executed once."""

    ordered = False

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox
        self._results: dict[tuple[str, str], ToolResult] = {}
        self.specs = toolbox.specs

    async def call(self, call: ToolCall) -> ToolResult:
        key = (call.name, call.arguments)
        if key not in self._results:
            self._results[key] = replace(await self._toolbox.call(call), data=None)  # walks read the text
        return self._results[key]


async def drive(
    agent: Policy, toolbox: Toolbox, prompt: Sequence[Message] = (), count: Callable[[str], int] = count_tokens
) -> ReferenceWalk:
    """Run a scripted agent on the tools. Raise StoreError if a tool fails.

    `count` counts tokens; pass a cached one for several walks on the same graph.
    """

    def tokens(message: Message) -> int:
        """Return the tokens of text and calls, without a provider's message overhead."""
        called = (text for call in message.tool_calls for text in (call.name, call.arguments))
        return sum(map(count, (message.content or "", *called)))

    tools = sum(count(json.dumps(tool.as_openai(), ensure_ascii=False)) for tool in toolbox.specs)
    context = tools + sum(map(tokens, prompt))
    turns = calls = input_tokens = output_tokens = 0
    texts: list[str] | None = None
    while True:
        turns += 1
        input_tokens += context
        try:
            asks = agent.send(texts)  # type: ignore[arg-type]  # None starts it
        except StopIteration as end:
            return ReferenceWalk(end.value, turns, calls, input_tokens, output_tokens + count(end.value))
        tool_calls = tuple(ask.call(f"call_{number}") for number, ask in enumerate(asks))
        results = [await toolbox.call(call) for call in tool_calls]
        texts = [result.content for result in results]
        written = tokens(Message("assistant", tool_calls=tool_calls))
        output_tokens += written
        context += written + sum(map(count, texts))
        calls += sum(not result.is_note for result in results)


def paper_figures() -> Any:
    """Return the figures printed in the GraphWalk paper."""
    return json.loads((data_path("templates") / "reports" / "graphwalk-paper.json").read_text("utf-8"))


def baseline_result(result: ResultRecord, model: str, score: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of a baseline on the task of `result`, without turns, calls and tokens."""
    fields = {"model": model, "setting": BASELINE, "repeat": 0, "exit_status": "answered", "score": score}
    return {**result, **fields, "turns": 0, "tool_calls": 0, "usage": {}, "seconds": None}


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
