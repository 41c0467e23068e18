"""State that a provider wants back: sent unchanged, message by message and call by call, whatever carried it."""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from graphwalk.errors import ModelError
from graphwalk.files.json_lines import decode_line, encode_line
from graphwalk.models.base import Model
from graphwalk.models.langchain import LangchainModel, from_langchain, to_state
from graphwalk.models.registry import open_model
from graphwalk.types.chat import CallOptions, Message, Reply, ToolSpec
from graphwalk.types.wire import from_dict, to_dict
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


@pytest.fixture(
    params=[pytest.param(name, marks=pytest.mark.extended if name == "Anthropic" else ()) for name in SERVERS]
)
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


@pytest.mark.parametrize(
    "others",
    [("OpenRouter", "Responses"), pytest.param(("Anthropic", "Gemini"), marks=pytest.mark.extended)],
)
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


async def test_the_state_of_a_graph_keeps_a_message_with_a_broken_call() -> None:
    """The tools have to see the arguments as the model wrote them."""
    broken = {"id": "b", "name": "think", "args": "{", "error": "no JSON", "type": "invalid_tool_call"}
    good = {"id": "a", "name": "think", "args": {}}
    said = AIMessage("x", tool_calls=[good], invalid_tool_calls=[broken])
    model = LangchainModel(GenericFakeChatModel(messages=iter([said])))
    message = (await model.complete([ASK], (), CallOptions())).message
    assert [call.arguments for call in message.tool_calls] == ["{}", "{"]
    assert from_langchain(to_state(Reply(message))) == message
