"""A policy as a model, a replay, and the script that needs no task."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import graphwalk
from graphwalk.errors import ConfigError, ModelError
from graphwalk.models.chat import CallOptions, Message, Reply, ToolCall, Usage
from graphwalk.models.scripted import NO_ANSWER, AnswerNow, Ask, Policy, ReplayModel, ScriptedModel
from graphwalk.models.trajectory import ExitStatus, Trajectory, Turn
from tests.models.player import ASK, LOOK, said

PROMPT = [Message("system", "Walk."), Message("user", "How many?")]
FILMS = Path(__file__).parent.parent / "data" / "films.json"


def looks_twice() -> Policy:
    first = yield [Ask("look", {"at": "é"}), Ask("look", {"at": 2})]
    second = yield [Ask("look", "{broken")]
    return " ".join(first + second)


def model(policy: Policy) -> ScriptedModel:
    return ScriptedModel("scripted/test", policy)


async def say(player: ScriptedModel, messages: list[Message], *, tools: bool = True, parallel: bool = True) -> Reply:
    options = CallOptions(parallel_tool_calls=None if parallel else False)
    return await player.complete(messages, (LOOK,) if tools else (), options)


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
async def test_without_tools_a_policy_answers_at_once(policy: Callable[[], Policy], answer: str) -> None:
    assert (await say(model(policy()), PROMPT, tools=False)).message.content == answer


async def test_a_replay_repeats_what_was_said() -> None:
    turns = tuple(Turn(Message("assistant", text), Usage(1, 2), "stop", 0.5) for text in "ab")
    model = ReplayModel("replay/run", Trajectory(ASK, turns, ExitStatus.ANSWERED))
    replies = [await model.complete(ASK, (), CallOptions()) for _ in range(2)]
    assert replies == [said(text, usage=Usage(1, 2), finish_reason="stop", seconds=0.5) for text in "ab"]
    with pytest.raises(ModelError, match="is over"):
        await model.complete(ASK, (), CallOptions())


@pytest.fixture(scope="module")
def store() -> Iterator[graphwalk.Store]:
    with graphwalk.open_store(FILMS) as store:
        yield store


def test_the_script_without_a_task_answers_streams_and_is_asked_again(store: graphwalk.Store) -> None:
    question: Any = {"messages": [("user", "Who directed The Quiet Harbour?")]}
    agent = graphwalk.build_agent("scripted/look", store)
    state = agent.invoke(question)
    assert "- Ida Holm [p1] DIRECTED The Quiet Harbour [f1]" in state["messages"][-1].content
    assert state["exit_status"] == "answered"
    again = agent.invoke({"messages": [*state["messages"], ("user", "Who made Red Dust?")]})
    assert "- Bo Lund [p2] DIRECTED Red Dust [f2]" in again["messages"][-1].content
    chunks = [chunk for chunk, _ in agent.stream(question, stream_mode="messages") if chunk.type != "tool"]
    words = [chunk.content for chunk in chunks if chunk.content]
    assert "".join(words) == state["messages"][-1].content
    assert len(words) > 20


def test_a_script_plays_by_native_calls_alone(store: graphwalk.Store) -> None:
    with pytest.raises(ConfigError, match="tool_format: json: scripted/look has native calls only"):
        graphwalk.build_agent("scripted/look", store, tool_format="json")
