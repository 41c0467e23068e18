"""A policy as a model: its replies, and its reading of the conversation."""

from collections.abc import Callable
from contextlib import suppress

import pytest

from graphwalk.models.scripted import NO_ANSWER, AnswerNow, Ask, Policy, ScriptedModel
from graphwalk.types.chat import CallOptions, Message, Reply, ToolCall, ToolSpec, Usage

PROMPT = [Message("system", "Walk."), Message("user", "How many?")]
TOOLS = [ToolSpec("look", "Looks.", {"type": "object"})]


def looks_twice() -> Policy:
    first = yield [Ask("look", {"at": "é"}), Ask("look", {"at": 2})]
    second = yield [Ask("look", "{broken")]
    return " ".join(first + second)


def model(policy: Policy) -> ScriptedModel:
    return ScriptedModel("scripted/test", policy)


async def say(player: ScriptedModel, messages: list[Message], *, tools: bool = True, parallel: bool = True) -> Reply:
    return await player.complete(
        messages, TOOLS if tools else (), CallOptions(parallel_tool_calls=None if parallel else False)
    )


def results(reply: Reply, *texts: str) -> list[Message]:
    called = zip(reply.message.tool_calls, texts, strict=True)
    return [reply.message, *(Message("tool", text, tool_call_id=call.id) for call, text in called)]


async def test_policy_calls_tools_and_answers() -> None:
    player, messages = model(looks_twice()), list(PROMPT)
    first = await say(player, messages)
    assert first.message.tool_calls == (
        ToolCall("call_1", "look", '{"at": "é"}'),
        ToolCall("call_2", "look", '{"at": 2}'),
    )
    assert (first.finish_reason, first.model, first.usage) == ("tool_calls", "scripted/test", Usage())
    messages += results(first, "one", "two")
    second = await say(player, messages)
    assert second.message.tool_calls == (ToolCall("call_3", "look", "{broken"),)
    last = await say(player, messages + results(second, "three"))
    assert (last.message.content, last.message.tool_calls, last.finish_reason) == ("one two three", (), "stop")


async def test_one_call_per_reply_where_parallel_calls_are_off() -> None:
    player, messages, calls = model(looks_twice()), list(PROMPT), []
    while (reply := await say(player, messages, parallel=False)).message.tool_calls:
        (call,) = reply.message.tool_calls
        calls.append(call.id)
        messages += results(reply, call.id)
    assert calls == ["call_1", "call_2", "call_3"]
    assert reply.message.content == "call_1 call_2 call_3"


async def test_without_tools_it_answers_at_once() -> None:
    player = model(looks_twice())
    messages = [*PROMPT, *results(await say(player, PROMPT), "one", "two"), Message("user", "Answer now.")]
    for _ in range(2):
        assert (await say(player, messages, tools=False)).message == Message("assistant", NO_ANSWER)


def careful() -> Policy:
    try:
        yield [Ask("look", {})]
    except AnswerNow:
        return "so far nothing"
    return "all"


def stubborn() -> Policy:
    while True:
        with suppress(AnswerNow):
            yield [Ask("look", {})]


@pytest.mark.parametrize(("policy", "answer"), [(careful, "so far nothing"), (stubborn, NO_ANSWER)])
async def test_policy_answers_at_the_turn_limit(policy: Callable[[], Policy], answer: str) -> None:
    assert (await say(model(policy()), PROMPT, tools=False)).message.content == answer
