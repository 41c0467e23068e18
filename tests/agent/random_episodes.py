"""Random episodes of the loop, the same for the same seed: every limit, nudge, format of calls and failure occurs."""

import json
from dataclasses import replace
from random import Random
from typing import Any

from graphwalk.agent.conversation import Conversation
from graphwalk.agent.loop import Episode, Watcher, run_episode
from graphwalk.agent.prompt import AnswerForm, Prompt
from graphwalk.config.agent import AgentConfig, Limits
from graphwalk.errors import ModelError, StoreError
from graphwalk.models.chat import CallOptions, Message, Reply, ToolCall, ToolSpec, Usage, to_dict
from graphwalk.models.trajectory import ToolResult
from graphwalk.models.wrappers import BudgetSpentError

_START = (Message("system", "Walk."), Message("user", "Where?"))
_TEXTS = ["", " ", "Hm.", "[1]", '{"answer": [1, 2]}', '{"answer": "a", "thought": "t"}', None, "I will call it."]


class RandomToolbox:
    """One tool, whose calls return rows, mistakes, an answer, a failure of the store, or an error of ours."""

    ordered = True
    specs = (ToolSpec("count", "Counts.", {"type": "object", "properties": {"x": {"type": "integer"}}}),)

    def __init__(self, random: Random) -> None:
        self._random = random

    async def call(self, call: ToolCall) -> ToolResult:
        outcome = self._random.random()
        if outcome < 0.01:
            raise StoreError("gone", hint="start it")
        if outcome < 0.02:
            raise ValueError("a mistake of ours")
        if outcome < 0.04:
            return ToolResult(call, "[final]", final=True)
        if outcome < 0.1:
            return ToolResult(call, "no", error="bad_arguments")
        return ToolResult(call, "row " * self._random.randint(0, 40), rows=self._random.randint(0, 5))


class RandomModel:
    """Replies with calls, an answer or nothing; may fail, be cut off, or give several calls one id."""

    name = "test/model"

    def __init__(self, random: Random, tool_format: str) -> None:
        self.requests: list[Any] = []
        self._random = random
        self._tools = ["count", "count", "count", "fly", ""] if tool_format == "json" else ["count", "fly"]

    async def complete(self, messages: Any, tools: Any, options: CallOptions) -> Reply:
        random = self._random
        sent = [to_dict(message) for message in messages]
        schema = json.dumps(options.answer_schema, default=dict)
        self.requests.append([sent, [tool.name for tool in tools], str(options.tool_choice), schema])
        usage = Usage(random.randint(1, 20), random.randint(1, 5), cost=random.choice([None, 0.1, 0.3]))
        finish_reason = random.choice(["stop"] * 8 + ["length", "MAX_TOKENS"])
        outcome = random.random()
        if outcome < 0.02:
            raise ModelError("down", hint=random.choice(["", "wait"]), context_overflow=random.random() < 0.5)
        if outcome < 0.03:
            raise BudgetSpentError("spent", hint="a larger one")
        if outcome < 0.45 or len(self.requests) > 40:
            return Reply(Message("assistant", random.choice(_TEXTS)), usage, finish_reason, 1.0)
        return Reply(Message("assistant", random.choice([None, "said"]), self._calls()), usage, finish_reason, 1.0)

    def _calls(self) -> tuple[ToolCall, ...]:
        calls = []
        for place in range(self._random.choice([1, 1, 2, 3, 5, 8])):
            calls.append(ToolCall(f"{len(self.requests)}-{place}", self._random.choice(self._tools), "{}"))
        if self._random.random() < 0.05:
            calls = [replace(call, id="same") for call in calls]
        return tuple(calls)

    async def close(self) -> None: ...


class Recorder(Watcher):
    """Keeps what a watcher sees."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def on_message(self, message: Message) -> None:
        self.seen.append(to_dict(message))

    def on_result(self, result: ToolResult) -> None:
        self.seen.append(result.content)


def _nudge(reply: str) -> str | None:
    return None if "[" in reply else f"Say: {len(reply)}"


async def random_episode(seed: int) -> list[Any]:
    """Play an episode; return its trajectory, all requests, and what a watcher saw, as JSON."""
    random = Random(seed)
    choose = random.choice
    agent = AgentConfig(
        turn_limit=choose([None, 1, 2, 3, 5, 9]),
        call_limit=choose([None, None, 1, 4, 7]),
        max_calls_per_turn=choose([1, 2, 4, 256]),
        nudges=choose([0, 1, 2]),
        compaction=choose(["none", "window"]),
        compaction_window=choose([1, 2, 8]),
        tool_format=choose(["native", "native", "text", "json"]),
        tool_choice=choose(["auto", "required"]),
    )
    toolbox = choose([None] + [RandomToolbox(random)] * 5)
    answer = choose([None, AnswerForm({"type": "array"}, json.dumps)])
    model, recorder = RandomModel(random, agent.tool_format), Recorder()
    limits = Limits(episode_tokens=choose([None, None, 30, 200]), episode_usd=choose([None, None, 0.5, 2.0]))
    start = Conversation(Prompt(_START, toolbox, answer, _nudge), agent, limits)
    trajectory = await run_episode(Episode(start, model, CallOptions(temperature=0.5), watcher=recorder))
    return [to_dict(trajectory), model.requests, recorder.seen]
