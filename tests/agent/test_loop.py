"""The loop itself: turns, limits, dialogues, failures; models are small policies in this file."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from graphwalk.agent.conversation import Conversation
from graphwalk.agent.loop import Episode, run_episode
from graphwalk.agent.prompt import Prompt
from graphwalk.config.agent import AgentConfig, Limits
from graphwalk.errors import ModelError, StoreError
from graphwalk.models.chat import CallOptions, Message, Reply, ToolCall, ToolSpec, Usage
from graphwalk.models.trajectory import ExitStatus, ToolResult, Trajectory
from graphwalk.models.wrappers import BudgetSpentError

PROMPT = (Message("system", "Walk."), Message("user", "Where?"))
Said = str | list[str] | Exception


@dataclass
class Speaker:
    """A model with one scripted step a turn: a text, names of tools to call, or an error."""

    says: Callable[[int], Said]
    heard: list[list[Message]] = field(default_factory=list)
    offered: list[list[str]] = field(default_factory=list)
    name: str = "test/speaker"

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        turn = len(self.heard)
        self.heard.append(list(messages))
        self.offered.append([tool.name for tool in tools])
        said = self.says(turn)
        if isinstance(said, Exception):
            raise said
        if isinstance(said, str):
            return Reply(Message("assistant", said), Usage(10, 1, cost=0.5), seconds=1.0)
        calls = tuple(ToolCall(f"{turn}-{n}", tool, "{}") for n, tool in enumerate(said))
        return Reply(Message("assistant", None, calls), Usage(10, 1, cost=0.5), seconds=1.0)

    async def close(self) -> None: ...


@dataclass
class Counter:
    """A toolbox whose results are the numbers of its calls."""

    ordered: bool = False
    seconds: float = 0.0
    broken: bool = False
    made: int = 0
    running: int = 0
    most_running: int = 0
    specs: Sequence[ToolSpec] = (ToolSpec("count", "Counts.", {"type": "object", "properties": {}}),)

    async def call(self, call: ToolCall) -> ToolResult:
        if self.broken:
            raise StoreError("the database is gone")
        self.made += 1
        number = self.made
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        await asyncio.sleep(self.seconds)
        self.running -= 1
        return ToolResult(call, str(number), rows=1)


def script(*says: Said) -> Callable[[int], Said]:
    return lambda turn: says[min(turn, len(says) - 1)]


async def walk(
    speaker: Speaker,
    toolbox: Counter | None,
    config: dict[str, Any] | None = None,
    limits: Limits = Limits(),
    deadline: float | None = None,
) -> Trajectory:
    start = Conversation(Prompt(PROMPT, toolbox), AgentConfig(**(config or {})), limits)
    return await run_episode(Episode(start, speaker, deadline=deadline))


async def test_calls_then_answer() -> None:
    speaker = Speaker(script(["count", "count"], ["count"], "[1]"))
    trajectory = await walk(speaker, Counter())
    assert trajectory.exit_status is ExitStatus.ANSWERED
    assert (trajectory.prompt, trajectory.reply) == (PROMPT, "[1]")
    assert [r.content for r in trajectory.results] == ["1", "2", "3"]
    assert [m.role for m in speaker.heard[-1]] == ["system", "user", "assistant", "tool", "tool", "assistant", "tool"]
    assert trajectory.usage == Usage(30, 3, cost=1.5)
    assert trajectory.seconds >= 3.0


@pytest.mark.parametrize(("ordered", "most_running"), [(False, 5), (True, 1)])
async def test_calls_of_a_turn_run_side_by_side_unless_they_leave_marks(ordered: bool, most_running: int) -> None:
    toolbox = Counter(ordered=ordered, seconds=0.01)
    trajectory = await walk(Speaker(script(["count"] * 5, "done")), toolbox)
    assert toolbox.most_running == most_running
    assert [r.call.id for r in trajectory.results] == [f"0-{n}" for n in range(5)]


async def test_at_the_turn_limit_the_answer_is_asked_for_without_tools() -> None:
    speaker = Speaker(lambda turn: "[7]" if turn == 3 else ["count"])
    trajectory = await walk(speaker, Counter(), {"turn_limit": 3})
    assert trajectory.exit_status is ExitStatus.TURN_LIMIT
    assert (len(trajectory.turns), trajectory.turns[-1].forced, trajectory.reply) == (4, True, "[7]")
    assert speaker.offered == [["count"]] * 3 + [[]]
    assert "final answer now" in (speaker.heard[-1][-1].content or "")


async def test_the_call_limit_is_kept_exactly() -> None:
    toolbox = Counter()
    trajectory = await walk(Speaker(lambda n: "[]" if n > 1 else ["count"] * 5), toolbox, {"call_limit": 7})
    assert toolbox.made == 7
    assert [r.error for r in trajectory.results] == [None] * 7 + ["call_limit"] * 3
    assert (trajectory.turns[-1].forced, trajectory.exit_status) == (True, ExitStatus.CALL_LIMIT)


@pytest.mark.parametrize(("most", "words"), [(20, "at most 20 calls"), (1, "only one call")])
async def test_more_calls_in_a_turn_than_allowed_are_refused_in_words(most: int, words: str) -> None:
    toolbox = Counter()
    trajectory = await walk(Speaker(script(["count"] * 50, "done")), toolbox, {"max_calls_per_turn": most})
    assert (toolbox.made, trajectory.results[-1].error) == (most, "too_many_calls")
    assert words in trajectory.results[-1].content


@pytest.mark.parametrize(
    ("says", "toolbox"), [(" ", Counter()), (["count"], None)], ids=["empty", "calls without tools"]
)
async def test_a_reply_without_text_is_no_answer(says: Said, toolbox: Counter | None) -> None:
    assert (await walk(Speaker(script(says)), toolbox)).exit_status is ExitStatus.NO_ANSWER


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ModelError("down"), ExitStatus.MODEL_ERROR),
        (ModelError("too long", context_overflow=True), ExitStatus.CONTEXT_OVERFLOW),
        (BudgetSpentError("spent"), ExitStatus.BUDGET),
    ],
)
async def test_a_failing_model_ends_the_episode_with_a_status(error: Exception, status: ExitStatus) -> None:
    trajectory = await walk(Speaker(script(["count"], error)), Counter())
    assert (trajectory.exit_status, trajectory.error) == (status, str(error))
    assert len(trajectory.turns) == 1


async def test_a_failing_store_ends_the_episode_and_keeps_the_calls() -> None:
    trajectory = await walk(Speaker(script(["count"])), Counter(broken=True))
    assert trajectory.exit_status is ExitStatus.STORE_ERROR
    assert trajectory.exit_status.infrastructure
    assert trajectory.turns[0].message.tool_calls


@pytest.mark.parametrize(
    ("limit", "status", "calls"),
    [({"episode_tokens": 33}, ExitStatus.TOKEN_LIMIT, 3), ({"episode_usd": 1.0}, ExitStatus.BUDGET, 2)],
    ids=["tokens", "cost"],
)
async def test_a_limit_of_tokens_or_cost_ends_an_episode(limit: dict[str, Any], status: ExitStatus, calls: int) -> None:
    trajectory = await walk(Speaker(script(["count"])), Counter(), limits=Limits(**limit))
    assert trajectory.exit_status is status
    assert trajectory.usage == Usage(10 * calls, calls, cost=0.5 * calls)


async def test_the_deadline_of_an_episode_is_kept() -> None:
    loop = asyncio.get_running_loop()
    begun = loop.time()
    trajectory = await walk(Speaker(script(["count"])), Counter(seconds=600), deadline=begun + 0.2)
    assert trajectory.exit_status is ExitStatus.STORE_ERROR
    assert 0.2 <= loop.time() - begun < 60


async def test_window_compaction_shortens_old_results_only() -> None:
    speaker = Speaker(lambda n: "done" if n == 4 else ["count"])
    toolbox = Counter(made=10**60)
    await walk(speaker, toolbox, {"compaction": "window", "compaction_window": 2})
    results = [m.content or "" for m in speaker.heard[-1] if m.role == "tool"]
    assert ["left out" in content for content in results] == [True, True, False, False]


async def test_cancelling_an_episode_passes_through() -> None:
    task = asyncio.ensure_future(walk(Speaker(script(["count"])), Counter(seconds=60)))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_calls_that_run_side_by_side_take_the_time_that_passed() -> None:
    class Slow(Counter):
        async def call(self, call: ToolCall) -> ToolResult:
            return replace(await super().call(call), seconds=1000.0)

    trajectory = await walk(Speaker(script(["count", "count"], "done")), Slow())
    assert trajectory.tool_seconds == 2000.0
    assert trajectory.seconds < trajectory.tool_seconds
