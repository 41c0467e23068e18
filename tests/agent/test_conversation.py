"""The rules of a conversation, without a model and without tools."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from graphwalk.agent.conversation import Conversation
from graphwalk.agent.prompt import Prompt
from graphwalk.config.agent import AgentConfig, Limits
from graphwalk.errors import ModelError, StoreError
from graphwalk.models.chat import Message, Reply, ToolCall, ToolSpec, Usage
from graphwalk.models.trajectory import ExitStatus, ToolResult, Turn
from graphwalk.models.wrappers import BudgetSpentError

QUESTION = Message("user", "Where?")


class NoTools:
    """Tools that are described, and never called."""

    specs: Sequence[ToolSpec] = (ToolSpec("count", "Counts.", {"type": "object", "properties": {}}),)
    ordered = False

    async def call(self, call: ToolCall) -> ToolResult:
        raise AssertionError("a rule has called a tool")


def start(nudge: str | None = None, limits: Limits = Limits(), **agent: Any) -> Conversation:
    prompt = Prompt((QUESTION,), NoTools(), nudge=lambda reply: nudge if "[" not in reply else None)
    return Conversation(prompt, AgentConfig(**agent), limits)


def says(text: str) -> Reply:
    return Reply(Message("assistant", text))


def asks(number: int, **reply: Any) -> Reply:
    calls = tuple(ToolCall(f"c{one}", "count", "{}") for one in range(number))
    return Reply(Message("assistant", tool_calls=calls), **reply)


def with_results(conversation: Conversation, **result: Any) -> Conversation:
    return conversation.returned([ToolResult(call, "1", **result) for call in conversation.calls])


def errors(conversation: Conversation) -> list[str | None]:
    return [result.error for result in conversation.trajectory.results]


def test_steps_of_a_walk() -> None:
    asked = start().replied(asks(2))
    returned = with_results(asked)
    answered = returned.replied(says("[1]"))
    assert [one.next_step for one in (start(), asked, returned, answered)] == ["model", "tools", "model", "end"]
    assert [message.role for message in returned.request().messages] == ["user", "assistant", "tool", "tool"]
    assert (answered.exit_status, answered.trajectory.reply) == (ExitStatus.ANSWERED, "[1]")


def test_a_final_result_is_the_answer() -> None:
    ended = with_results(start().replied(asks(1)), final=True)
    assert (ended.exit_status, ended.trajectory.reply) == (ExitStatus.ANSWERED, "1")


@pytest.mark.parametrize(("limit", "calls"), [("turn", 1), ("call", 3)])
def test_at_a_limit_the_answer_is_requested_without_tools(limit: str, calls: int) -> None:
    walk = with_results(start(**{f"{limit}_limit": 2 if limit == "turn" else 3}).replied(asks(calls)))
    walk = walk if limit == "call" else with_results(walk.replied(asks(1)))
    request = walk.request()
    assert (request.tools, request.messages[-1]) == ((), walk.answer_now)
    ended = walk.replied(asks(1))
    assert (ended.exit_status, ended.turns[-1].forced, ended.next_step) == (f"{limit}_limit", True, "end")


@pytest.mark.parametrize(
    ("agent", "reply", "made", "refused"),
    [
        ({"max_calls_per_turn": 2}, asks(3), 2, "too_many_calls"),
        ({"call_limit": 2}, asks(3), 2, "call_limit"),
        ({}, asks(3, finish_reason="LENGTH"), 0, "cut_off"),
    ],
)
def test_refused_calls_have_a_result(agent: dict[str, Any], reply: Reply, made: int, refused: str) -> None:
    asked = start(**agent).replied(reply)
    assert len(asked.calls) == made
    assert errors(with_results(asked)) == [None] * made + [refused] * (3 - made)


def test_a_reply_without_an_answer_is_nudged_as_often_as_allowed() -> None:
    nudged = start(nudge="An answer?", nudges=1).replied(says("Hm."))
    assert (nudged.next_step, nudged.request().messages[-1].content) == ("model", "An answer?")
    assert nudged.replied(says("Hm.")).exit_status is ExitStatus.ANSWERED
    assert nudged.replied(says(" ")).exit_status is ExitStatus.NO_ANSWER


def test_limits_count_from_the_last_message_of_the_user_but_not_from_a_nudge() -> None:
    turns = [
        Turn(Message("assistant", "Hm."), next_user="An answer?", nudged=True),
        Turn(Message("assistant", "Hm."), next_user="Go on."),
    ]
    walk = start(nudge="An answer?", turn_limit=1)
    assert walk.continued(turns[:1]).limit is ExitStatus.TURN_LIMIT
    assert walk.continued(turns).limit is None


@pytest.mark.parametrize("limits", [Limits(episode_tokens=10), Limits(episode_usd=1.0)])
def test_a_spent_conversation_makes_its_calls_and_ends(limits: Limits) -> None:
    asked = start(limits=limits).replied(asks(1, usage=Usage(9, 1, cost=1.0)))
    assert asked.next_step == "tools"
    assert with_results(asked).exit_status in (ExitStatus.TOKEN_LIMIT, ExitStatus.BUDGET)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ModelError("e", hint="h"), ExitStatus.MODEL_ERROR),
        (ModelError("e", context_overflow=True), ExitStatus.CONTEXT_OVERFLOW),
        (BudgetSpentError("e"), ExitStatus.BUDGET),
        (StoreError("e", hint="h"), ExitStatus.STORE_ERROR),
    ],
)
def test_failures(error: ModelError | StoreError, status: ExitStatus) -> None:
    failed = start().failed(error)
    assert (failed.exit_status, failed.error) == (status, "e (h)" if status is ExitStatus.MODEL_ERROR else "e")


def test_the_deadline_passes_in_the_step_that_is_next() -> None:
    assert start().timed_out().exit_status is ExitStatus.MODEL_ERROR
    assert start().replied(asks(1)).timed_out().exit_status is ExitStatus.STORE_ERROR


def test_a_history_is_sent_with_one_result_for_each_call() -> None:
    turn = start().replied(asks(2)).turns[0]
    results = (ToolResult(ToolCall("c1", "count", "{}"), "1"), ToolResult(ToolCall("old", "count", "{}"), "0"))
    sent = start().continued([replace(turn, results=results)]).messages
    assert [message.tool_call_id for message in sent if message.role == "tool"] == ["c1", "c0"]


def test_a_conversation_never_changes() -> None:
    asked = start().replied(asks(1))
    assert asked.returned([ToolResult(asked.calls[0], "1")]) == asked.returned([ToolResult(asked.calls[0], "1")])
    assert asked.turns[0].results == ()
