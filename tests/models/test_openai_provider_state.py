"""State that a provider wants back: sent unchanged, message by message and call by call, whatever carried it."""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from graphwalk.errors import ModelError
from graphwalk.files.json_lines import decode_line, encode_line
from graphwalk.models.chat import CallOptions, Message, Model, ToolSpec, from_dict, to_dict
from graphwalk.models.registry import open_model
from tests.models.player import ASK
from tests.models.stateful_servers import (
    ANSWER,
    CALLS,
    SERVERS,
    SIGNED,
    TURNS,
    GroqServer,
    StatefulServer,
    TemplateServer,
)

TOOLS = (ToolSpec("think", "Thinks.", {"type": "object", "properties": {}}),)


@asynccontextmanager
async def opened(server: StatefulServer) -> AsyncIterator[Model]:
    async with server.serving() as variables:
        model = open_model(server.spec, variables)
        yield model
        await model.close()


async def converse(model: Model) -> list[Message]:
    """Call the model until it calls no tool any more, and return the whole conversation."""
    messages = [*ASK]
    while len(messages) == 1 or messages[-1].role == "tool":
        reply = await model.complete(messages, TOOLS, CallOptions())
        messages.append(reply.message)
        messages += [Message("tool", "seen", tool_call_id=call.id) for call in reply.message.tool_calls]
    return messages


@pytest.mark.parametrize("name", SERVERS)
async def test_state_is_sent_back_unchanged_also_from_a_file(name: str) -> None:
    server = SERVERS[name]()
    async with opened(server) as model:
        messages = await converse(model)
        turns = [message for message in messages if message.role == "assistant"]
        assert [len(turn.tool_calls) for turn in turns] == [*CALLS]
        assert turns[-1].content == ANSWER
        assert (server.replies, server.refusals) == (TURNS, [])
        lines = [decode_line(encode_line({"message": to_dict(message)})) for message in messages]
        read = [from_dict(Message, line["message"]) for line in lines]
        assert read == messages
        await model.complete(read[:-1], TOOLS, CallOptions())
    assert server.refusals == []


async def test_state_of_another_api_is_not_sent() -> None:
    async with opened(SERVERS["Chat"]()) as model:
        messages = await converse(model)
    server = SERVERS["Responses"]()
    async with opened(server) as model:
        with pytest.raises(ModelError, match=re.escape(server.words)):
            await model.complete(messages, TOOLS, CallOptions())
    (sent,) = server.refusals
    assert len(sent) == TURNS
    assert SIGNED not in json.dumps(sent)


async def test_a_server_that_refuses_its_own_fields_gets_them_no_longer() -> None:
    server = GroqServer()
    async with opened(server) as model:
        messages = await converse(model)
        assert len(server.refusals) == 1
        await converse(model)
    assert len(server.refusals) == 1
    assert server.replies == 2 * TURNS
    assert [message.reasoning for message in messages if message.role == "assistant"] == ["Hm."] * TURNS


async def test_a_thought_that_a_template_refuses_with_500_is_left_out() -> None:
    server = TemplateServer()
    async with opened(server) as model:
        messages = await converse(model)
    assert messages[-1].content == ANSWER
    assert server.replies == TURNS
    assert len(server.refusals) == 2
