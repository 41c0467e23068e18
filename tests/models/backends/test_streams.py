"""Servers that answer in streams only, real ones on loopback: found out, asked rightly, and read whole."""

import asyncio
import json
from typing import Any

import pytest

from graphwalk.environment import Environment
from graphwalk.errors import ModelError
from graphwalk.models.backends.openai_chat import OpenAIChatModel
from graphwalk.models.registry import open_model
from graphwalk.types.chat import CallOptions, ToolCall, Usage
from tests.models.player import ASK, LOOK
from tests.models.server import Answer, ModelServer, Request, error, responses


def stream(*events: Any, done: bool = True) -> Answer:
    lines = [f"data: {json.dumps(event)}\n\n" for event in events] + (["data: [DONE]\n\n"] if done else [])
    return Answer("".join([": hello\r\n\r\n", *lines]).encode(), headers={"content-type": "text/event-stream"})


def chunk(reason: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"id": "c", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def piece(index: int, arguments: str, **more: Any) -> dict[str, Any]:
    return {"index": index, "function": {"arguments": arguments, **more.pop("function", {})}, **more}


WORDS = (
    chunk(role="assistant", content=""),
    chunk(content="Grü"),
    chunk(content="ße", reasoning_content="hm"),
    chunk(tool_calls=[piece(1, '{"key"', id="b", function={"name": "look"})]),
    chunk(tool_calls=[piece(0, '{"key": "a"}', id="a", function={"name": "look"}), piece(1, ': "b"}')]),
    chunk("tool_calls"),
    {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5}},
)


def only_streams(request: Request) -> Answer:
    if not request.body.get("stream"):
        return error(400, "This model only supports stream mode, please enable the stream parameter.")
    return stream(*WORDS)


async def test_a_server_that_only_streams_is_found_out_once(model: OpenAIChatModel, server: ModelServer) -> None:
    server.respond = only_streams
    first = await model.complete(ASK, (LOOK,), CallOptions())
    assert first.message.content == "Grüße"
    assert first.message.reasoning == "hm"
    assert first.message.tool_calls == (
        ToolCall("a", "look", '{"key": "a"}'),
        ToolCall("b", "look", '{"key": "b"}'),
    )
    assert (first.usage, first.finish_reason, first.model) == (Usage(10, 5), "tool_calls", "m")
    await model.complete(ASK, (LOOK,), CallOptions())
    assert [bool(request.body.get("stream")) for request in server.requests] == [False, True, True]
    assert server.requests[-1].body["stream_options"] == {"include_usage": True}


async def test_calls_at_the_same_time_all_find_out(model: OpenAIChatModel, server: ModelServer) -> None:
    server.respond = only_streams
    replies = await asyncio.gather(*(model.complete(ASK, (), CallOptions()) for _ in range(4)))
    assert {reply.message.content for reply in replies} == {"Grüße"}


async def test_one_that_knows_no_usage_is_not_asked_for_it(model: OpenAIChatModel, server: ModelServer) -> None:
    def respond(request: Request) -> Answer:
        if "stream_options" in request.body:
            return error(422, "extra fields not permitted: stream_options")
        return only_streams(request)

    server.respond = respond
    assert (await model.complete(ASK, (), CallOptions())).message.content == "Grüße"
    assert "stream_options" not in server.requests[-1].body


async def test_a_stream_that_nobody_asked_for_is_read(model: OpenAIChatModel, server: ModelServer) -> None:
    server.respond = lambda _: stream(chunk(content="yes"), chunk("stop"), done=False)
    assert (await model.complete(ASK, (), CallOptions())).message.content == "yes"
    await model.complete(ASK, (), CallOptions(extra={"stream": True}))
    assert server.requests[-1].body["stream"] is True


@pytest.mark.parametrize(
    ("answer", "cause", "retryable"),
    [
        (stream(chunk(content="half of"), done=False), "before the reply was whole", True),
        (stream(chunk(content="x"), {"error": {"message": "overloaded", "code": 503}}), "overloaded", True),
        (Answer(b'data: {"choices": [\n\n', headers={"content-type": "text/event-stream"}), "broken reply", True),
        (error(400, "streams are not for you"), "not for you", False),
    ],
)
async def test_what_is_no_whole_reply_fails(
    model: OpenAIChatModel, server: ModelServer, answer: Answer, cause: str, retryable: bool
) -> None:
    server.respond = lambda _: answer
    with pytest.raises(ModelError, match=cause) as failed:
        await model.complete(ASK, (), CallOptions())
    assert failed.value.retryable is retryable
    assert len(server.requests) <= 2


async def test_responses_come_as_streams_too(server: ModelServer) -> None:
    server.respond = lambda _: stream(
        {"type": "response.created", "response": {}},
        {"type": "response.completed", "response": responses("hello")},
        done=False,
    )
    model = open_model("openai-responses/m", Environment({"OPENAI_BASE_URL": server.url}))
    assert (await model.complete(ASK, (), CallOptions())).message.content == "hello"
    await model.close()
