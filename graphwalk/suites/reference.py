"""Reference walks: the turns, calls and tokens of a scripted expert."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache

from graphwalk.agent.conversation import Conversation
from graphwalk.agent.prompt import Prompt
from graphwalk.config.agent import AgentConfig
from graphwalk.models.chat import Message, Reply, ToolCall
from graphwalk.models.scripted import Policy
from graphwalk.models.tokens import count_tokens
from graphwalk.models.trajectory import ToolResult
from graphwalk.seeds import stdlib_random
from graphwalk.suites.loaded_graph import LoadedGraph
from graphwalk.suites.suite import ScriptedAgent, T
from graphwalk.tools.toolbox import Toolbox, ToolboxWrapper

_count = lru_cache(1 << 12)(count_tokens)
"""Walks on the same graph read the same texts."""


@dataclass(frozen=True, slots=True)
class ReferenceWalk:
    """The expert's answer with its turns (including the answer) and tool calls (without notes).

    Tokens are those of a model that makes the same calls. Every turn sends the whole conversation again.
    """

    answer: str
    turns: int
    calls: int
    input_tokens: int
    output_tokens: int

    @property
    def figures(self) -> dict[str, int]:
        """The figures by their fields in a task."""
        return {f"reference_{name}": value for name, value in asdict(self).items() if name != "answer"}


class CachedTools(ToolboxWrapper):
    """Tools of which each call is run once, unless calls change later results: walks on a graph repeat most calls."""

    def __init__(self, inner: Toolbox, results: dict[tuple[str, str], ToolResult]) -> None:
        super().__init__(inner)
        self._results = results

    async def call(self, call: ToolCall) -> ToolResult:
        if self.ordered:
            return await self.inner.call(call)
        key = (call.name, call.arguments)
        if key not in self._results:
            result = await self.inner.call(call)
            # Walks read the text alone, and the rows need memory.
            self._results[key] = replace(result, data=None)
        return replace(self._results[key], call=call)


async def expert_walk(
    expert: ScriptedAgent[T], task: T, about: LoadedGraph, agent: AgentConfig = AgentConfig()
) -> ReferenceWalk:
    """Return the expert's walk with the default prompt and tools, whose pages are those of the agent."""
    walker_config = AgentConfig()
    if agent.result_tokens is not None:
        walker_config = AgentConfig(result_tokens=agent.result_tokens, encoding=agent.encoding)
    prompt = await task.prompt(about, "tools", walker_config)
    assert prompt.toolbox is not None
    toolbox = CachedTools(prompt.toolbox, about.once(("results", walker_config), dict))
    policy = expert.policy(task, "tools", await about.whole_schema(), stdlib_random(0, "expert"))
    return await drive(policy, toolbox, prompt.messages)


async def drive(policy: Policy, toolbox: Toolbox, prompt: Sequence[Message] = ()) -> ReferenceWalk:
    """Run a scripted agent on the tools. Raise StoreError if a tool fails."""
    walk = Conversation(Prompt(tuple(prompt), toolbox), AgentConfig())
    texts = None
    while not walk.over:
        walk = walk.replied(_next_reply(policy, texts))
        if walk.next_step == "tools":
            walk = walk.returned([await toolbox.call(call) for call in walk.calls])
            texts = [result.content for result in walk.turns[-1].results]
    return _figures(walk)


def _next_reply(policy: Policy, texts: list[str] | None) -> Reply:
    try:
        asks = policy.send(texts)  # type: ignore[arg-type]  # None starts it
    except StopIteration as end:
        return Reply(Message("assistant", end.value))
    calls = (ask.call(f"call_{number}") for number, ask in enumerate(asks))
    return Reply(Message("assistant", tool_calls=tuple(calls)))


def _figures(walk: Conversation) -> ReferenceWalk:
    """Return the answer of a walk with its turns, calls and tokens."""
    trajectory = walk.trajectory
    context = sum(_count(json.dumps(tool.as_openai(), ensure_ascii=False)) for tool in walk.tools)
    context += sum(_tokens(message) for message in trajectory.prompt)
    input_tokens = 0
    output_tokens = 0
    for turn in trajectory.turns:
        # Each request sends all again: tools, prompt, and what was written and returned so far.
        input_tokens += context
        written = _tokens(turn.message)
        returned = sum(_count(result.content) for result in turn.results)
        output_tokens += written
        context += written + returned
    calls = sum(not result.is_note for result in trajectory.results)
    return ReferenceWalk(trajectory.reply, len(trajectory.turns), calls, input_tokens, output_tokens)


def _tokens(message: Message) -> int:
    """Return the tokens of text and calls, without a provider's message overhead."""
    tokens = _count(message.content or "")
    for call in message.tool_calls:
        tokens += _count(call.name) + _count(call.arguments)
    return tokens
