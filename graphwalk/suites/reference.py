"""Reference walks: the turns, calls and tokens of a scripted expert."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from graphwalk.config.agent import AgentConfig, Scoring
from graphwalk.errors import OracleError
from graphwalk.models.chat import Message, ToolCall
from graphwalk.models.scripted import Policy
from graphwalk.models.tokens import count_tokens
from graphwalk.models.trajectory import ExitStatus, ToolResult, Trajectory, Turn
from graphwalk.seeds import stdlib_random
from graphwalk.suites.loaded_graph import LoadedGraph
from graphwalk.suites.suite import Player, T
from graphwalk.tools.toolbox import Toolbox


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

    @property
    def figures(self) -> dict[str, int]:
        """The figures by their fields in a task."""
        return {
            "reference_turns": self.turns,
            "reference_calls": self.calls,
            "reference_input_tokens": self.input_tokens,
            "reference_output_tokens": self.output_tokens,
        }


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


async def expert_walk(expert: Player[T], task: T, about: LoadedGraph) -> ReferenceWalk:
    """Return the expert's walk with the default tools. Raise OracleError if its answer is wrong."""
    prompt = await task.prompt(about, "tools", AgentConfig())
    assert prompt.toolbox is not None
    policy = expert.policy(task, "tools", None, stdlib_random(0, "expert"))
    walk = await drive(policy, prompt.toolbox, prompt.messages)
    trajectory = Trajectory((), (Turn(Message("assistant", walk.answer)),), ExitStatus.ANSWERED)
    if not task.score(trajectory, task.read(walk.answer), Scoring()).correct:
        raise OracleError(
            f"the expert's answer to {task.task_id} is wrong\n  target: {task.target}\n  expert: {walk.answer}"
        )
    return walk


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
