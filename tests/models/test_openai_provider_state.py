"""State that a provider wants back: sent unchanged, message by message and call by call, whatever carried it."""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from graphwalk.errors import ModelError
from graphwalk.files.json_lines import decode_line, encode_line
from graphwalk.models.base import Model
from graphwalk.models.langchain import LangchainModel, from_langchain, to_langchain, to_state
from graphwalk.models.registry import open_model
from graphwalk.types.chat import CallOptions, Message, Reply, ToolSpec
from graphwalk.types.wire import from_dict, to_dict
from graphwalk.variables import Variables
from tests.models.server import ModelServer
from tests.models.stateful_servers import (
    ANSWER,
    SERVERS,
    SIGNED,
    STEPS,
    TURNS,
    GroqServer,
    StatefulServer,
)

ASK = Message("user", "Which keys are there?")
ANYTHING = {"type": "object", "properties": {}}
TOOLS = tuple(ToolSpec(name, name, ANYTHING) for name in ("think", "get_unique_property_values"))


@pytest.fixture(params=SERVERS)
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> StatefulServer:
    if request.param == "Anthropic":
        pytest.importorskip("langchain_anthropic")
        monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    return SERVERS[request.param]()


@asynccontextmanager
async def opened(server: StatefulServer) -> AsyncIterator[Model]:
    async with server.serving() as settings:
        model = open_model(server.spec, settings, server.arguments)
        yield model
        await model.close()


async def converse(model: Model) -> list[Message]:
    """Call the model until it calls no tool any more, and return the whole conversation."""
    messages = [ASK]
    while len(messages) == 1 or messages[-1].role == "tool":
        reply = await model.complete(messages, TOOLS, CallOptions())
        messages.append(reply.message)
        messages += [Message("tool", "seen", tool_call_id=call.id) for call in reply.message.tool_calls]
    return messages


def said(messages: list[Message]) -> list[Message]:
    return [message for message in messages if message.role == "assistant"]


async def test_state_is_sent_back_unchanged(server: StatefulServer) -> None:
    async with opened(server) as model:
        messages = await converse(model)
    turns = said(messages)
    assert [len(turn.tool_calls) for turn in turns] == [*map(len, STEPS), 0]
    assert turns[-1].content == ANSWER
    assert all(turn.provider_state for turn in turns)
    assert (server.replies, server.refusals) == (TURNS, [])


async def test_state_survives_a_file(server: StatefulServer) -> None:
    """As in the run log and the reply cache."""
    async with opened(server) as model:
        messages = await converse(model)
        lines = [encode_line(to_dict(message)) for message in messages]
        read = [from_dict(Message, _without_checksum(decode_line(line))) for line in lines]
        assert read == messages
        await model.complete(read, TOOLS, CallOptions())
    assert server.refusals == []


def _without_checksum(line: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in line.items() if name != "crc32"}


@pytest.mark.parametrize("position", [0, 1])
async def test_the_server_refuses_missing_state(server: StatefulServer, position: int) -> None:
    async with opened(server) as model:
        messages = await converse(model)
        number = messages.index(said(messages)[position])
        messages[number] = replace(messages[number], provider_state=None)
        with pytest.raises(ModelError) as refused:
            await model.complete(messages, TOOLS, CallOptions())
    assert server.words[:100] in str(refused.value)
    assert not refused.value.retryable
    assert len(server.refusals) == 1


@pytest.mark.parametrize("others", [("OpenRouter", "Responses"), ("Anthropic", "Gemini")])
async def test_state_of_another_api_is_not_sent(others: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    first, second = (SERVERS[name]() for name in others)
    async with opened(first) as model:
        messages = await converse(model)
    async with opened(second) as model:
        with pytest.raises(ModelError, match=re.escape(second.words[:40])):
            await model.complete(messages, TOOLS, CallOptions())
    ((_, sent),) = second.refusals
    assert len(sent) == TURNS
    assert SIGNED not in json.dumps(sent)


async def test_a_server_that_refuses_its_own_fields_gets_them_no_longer() -> None:
    server = GroqServer()
    async with opened(server) as model:
        messages = await converse(model)
        assert len(server.refusals) == 1
        again = await converse(model)
    assert len(server.refusals) == 1
    assert server.replies == 2 * TURNS
    assert [turn.reasoning for turn in said(messages)] == [f"Step {step}." for step in range(TURNS)]
    assert messages == again


async def test_state_of_a_tool_call_stays_with_it_when_another_call_is_removed() -> None:
    async with opened(SERVERS["Gemini"]()) as model:
        message = (await converse(model))[3]
    async with ModelServer() as server:
        model = open_model("gemini/m", Variables({"GEMINI_BASE_URL": server.url}))
        for left in message.tool_calls:
            edited = replace(message, tool_calls=(left,))
            await model.complete([ASK, edited, Message("tool", "x", tool_call_id=left.id)], TOOLS, CallOptions())
        await model.close()
        calls = [request.body["messages"][1]["tool_calls"] for request in server.requests]
    assert [["extra_content" in call for call in each] for each in calls] == [[True], [False]]


async def test_the_edited_text_of_a_response_is_sent() -> None:
    async with ModelServer() as server:
        model = open_model("openai-responses/m", Variables({"OPENAI_BASE_URL": server.url}))
        first = (await model.complete([ASK], (), CallOptions())).message
        for message in (first, replace(first, content="good bye")):
            await model.complete([ASK, message, ASK], (), CallOptions())
        await model.close()
        inputs = [request.body["input"] for request in server.requests[1:]]
    assert [item.get("type") for item in inputs[0]] == [None, "reasoning", "message", None]
    assert [item["content"] for item in inputs[1]] == [ASK.content, "good bye", ASK.content]


async def test_the_edited_text_of_a_message_of_langchain_is_sent() -> None:
    model = LangchainModel(GenericFakeChatModel(messages=iter([AIMessage("hello")])))
    message = (await model.complete([ASK], (), CallOptions())).message
    assert to_langchain(message).id == to_langchain(message).id is not None
    assert to_langchain(replace(message, content="good bye")).content == "good bye"


async def test_another_refusal_does_not_drop_state() -> None:
    """The words of a server that wants its state name the field as well."""
    server = SERVERS["DeepSeek"]()
    async with opened(server) as model:
        messages = await converse(model)
        broken = [
            replace(message, content=f"{message.content}!") if message.role == "assistant" else message
            for message in messages
        ]
        with pytest.raises(ModelError, match="must be passed back"):
            await model.complete(broken, TOOLS, CallOptions())
        assert len(server.refusals) == 1
        await converse(model)
    assert len(server.refusals) == 1


async def test_the_state_of_a_graph_keeps_a_message_with_a_broken_call() -> None:
    """The tools have to see the arguments as the model wrote them."""
    broken = {"id": "b", "name": "think", "args": "{", "error": "no JSON", "type": "invalid_tool_call"}
    good = {"id": "a", "name": "think", "args": {}}
    said = AIMessage("x", tool_calls=[good], invalid_tool_calls=[broken])
    model = LangchainModel(GenericFakeChatModel(messages=iter([said])))
    message = (await model.complete([ASK], (), CallOptions())).message
    assert [call.arguments for call in message.tool_calls] == ["{}", "{"]
    assert from_langchain(to_state(Reply(message))) == message
