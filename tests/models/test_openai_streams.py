"""Streams of real servers on loopback: asked for, sent unasked or by servers that only stream, and joined."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from graphwalk.config.calls import Limits
from graphwalk.errors import ModelError
from graphwalk.models import openai
from graphwalk.models.openai import OpenAIModel
from graphwalk.models.wrappers import RESTARTED
from graphwalk.types.chat import CallOptions, ToolCall, Usage
from tests.models.player import ASK, LOOK, in_run
from tests.models.server import Answer, ModelServer, Request, chat, error, responses

EVENTS = {"content-type": "text/event-stream"}


async def ignored(piece: str) -> None:
    """Take a piece of a reply's text."""


def stream(*events: Any, done: bool = True) -> Answer:
    lines = [f"data: {json.dumps(event)}\n\n" for event in events] + (["data: [DONE]\n\n"] if done else [])
    return Answer("".join([": hello\r\n\r\n", *lines]).encode(), headers=EVENTS)


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


async def test_a_server_that_only_streams_is_found_out_once(model: OpenAIModel, server: ModelServer) -> None:
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


async def test_calls_at_the_same_time_all_find_out(model: OpenAIModel, server: ModelServer) -> None:
    server.respond = only_streams
    replies = await asyncio.gather(*(model.complete(ASK, (), CallOptions()) for _ in range(4)))
    assert {reply.message.content for reply in replies} == {"Grüße"}


async def test_one_that_knows_no_usage_is_not_asked_for_it(model: OpenAIModel, server: ModelServer) -> None:
    def respond(request: Request) -> Answer:
        if "stream_options" in request.body:
            return error(422, "extra fields not permitted: stream_options")
        return only_streams(request)

    server.respond = respond
    assert (await model.complete(ASK, (), CallOptions())).message.content == "Grüße"
    assert "stream_options" not in server.requests[-1].body


async def test_a_stream_that_was_not_asked_for_is_read(model: OpenAIModel, server: ModelServer) -> None:
    server.respond = lambda _: stream(chunk(content="yes"), chunk("stop"), done=False)
    assert (await model.complete(ASK, (), CallOptions())).message.content == "yes"
    await model.complete(ASK, (), CallOptions(extra={"stream": True}))
    assert server.requests[-1].body["stream"] is True


@pytest.mark.parametrize(
    ("answer", "cause", "retryable"),
    [
        (stream(chunk(content="half of"), done=False), "before the reply was whole", True),
        (stream(chunk(content="x"), {"error": {"message": "overloaded", "code": 503}}), "overloaded", True),
        (Answer(b'data: {"choices": [\n\n', headers=EVENTS), "broken stream", True),
        (error(400, "streams are not for you"), "not for you", False),
        (
            Answer(stream(chunk(content="x"), done=False).body, headers=EVENTS, then="reset"),
            "no reply from 127.0.0.1",
            True,
        ),
    ],
    ids=["cut off", "error event", "broken event", "refused", "reset"],
)
@pytest.mark.parametrize("asked", [False, True], ids=["unasked", "asked"])
async def test_incomplete_streams_fail(
    model: OpenAIModel, server: ModelServer, answer: Answer, cause: str, retryable: bool, asked: bool
) -> None:
    server.respond = lambda _: answer
    with pytest.raises(ModelError, match=cause) as failed:
        await model.complete(ASK, (), CallOptions(on_text=ignored if asked else None))
    assert failed.value.retryable is retryable
    assert len(server.requests) <= 2


RESPONSE = (
    {"type": "response.created", "response": {}},
    {"type": "response.output_text.delta", "delta": "hel"},
    {"type": "response.output_text.delta", "delta": "lo"},
    {"type": "response.completed", "response": responses("hello")},
)


async def test_responses_come_as_streams_too(reasoning_model: OpenAIModel, server: ModelServer) -> None:
    server.respond = lambda _: stream(*RESPONSE, done=False)
    assert (await reasoning_model.complete(ASK, (), CallOptions())).message.content == "hello"


async def test_the_text_of_a_response_is_passed_on_as_it_arrives(
    reasoning_model: OpenAIModel, server: ModelServer
) -> None:
    server.respond = lambda _: stream(*RESPONSE, done=False)
    pieces: list[str] = []
    reply = await reasoning_model.complete(ASK, (), CallOptions(on_text=collector(pieces)))
    assert (reply.message.content, pieces) == ("hello", ["hel", "lo"])
    assert server.requests[-1].body["stream"] is True
    assert "stream_options" not in server.requests[-1].body


@pytest.mark.parametrize("events", [RESPONSE[:3], (*RESPONSE[:2], {"type": "error", "message": "no room"})])
async def test_a_response_that_ends_too_early_fails(
    reasoning_model: OpenAIModel, server: ModelServer, events: tuple[Any, ...]
) -> None:
    server.respond = lambda _: stream(*events, done=False)
    with pytest.raises(ModelError, match=r"before the reply was whole|no room") as failed:
        await reasoning_model.complete(ASK, (), CallOptions())
    assert failed.value.retryable


def collector(pieces: list[str]) -> Callable[[str], Awaitable[None]]:
    async def on_text(piece: str) -> None:
        pieces.append(piece)

    return on_text


async def test_text_is_passed_on_before_the_reply_is_whole(model: OpenAIModel, server: ModelServer) -> None:
    """The server keeps the connection open after the first word, until that word has arrived."""
    start = Answer(stream(chunk(content="early"), done=False).body, headers=EVENTS, then="hang")
    server.respond = lambda _: start
    arrived = asyncio.Event()
    pieces: list[str] = []

    async def on_text(piece: str) -> None:
        pieces.append(piece)
        arrived.set()

    call = asyncio.create_task(model.complete(ASK, (), CallOptions(on_text=on_text)))
    async with asyncio.timeout(30):
        await arrived.wait()
    assert not call.done()
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    assert pieces == ["early"]


async def test_text_that_is_streamed_again_is_marked(model: OpenAIModel, server: ModelServer) -> None:
    half = stream(chunk(content="half"), done=False)
    answers = iter([error(503), half, error(503), half, stream(chunk(content="whole"), chunk("stop"))])
    server.respond = lambda _: next(answers)
    pieces: list[str] = []
    reply = await in_run(model, Limits(retries=4)).complete(ASK, (), CallOptions(on_text=collector(pieces)))
    assert (reply.message.content, pieces) == ("whole", ["half", RESTARTED, "half", RESTARTED, "whole"])


async def test_a_streamed_reply_is_the_one_that_comes_without_a_stream(model: OpenAIModel, server: ModelServer) -> None:
    server.respond = lambda _: stream(*WORDS)
    pieces: list[str] = []
    live = await model.complete(ASK, (LOOK,), CallOptions(on_text=collector(pieces)))
    assert pieces == ["Grü", "ße"]
    assert server.requests[-1].body["stream_options"] == {"include_usage": True}
    server.respond = lambda _: Answer(
        chat("Grüße", [("look", '{"key": "a"}'), ("look", '{"key": "b"}')], reasoning_content="hm")
    )
    whole = await model.complete(ASK, (LOOK,), CallOptions())
    assert "stream" not in server.requests[-1].body
    assert replace(live.message, tool_calls=()) == replace(whole.message, tool_calls=())
    assert [call.arguments for call in live.message.tool_calls] == [call.arguments for call in whole.message.tool_calls]


async def test_a_server_without_streams_is_asked_without(model: OpenAIModel, server: ModelServer) -> None:
    def respond(request: Request) -> Answer:
        return error(400, "streaming is not supported") if request.body.get("stream") else Answer(chat("whole"))

    server.respond = respond
    for _ in range(2):
        assert (await model.complete(ASK, (), CallOptions(on_text=ignored))).message.content == "whole"
    assert [bool(request.body.get("stream")) for request in server.requests] == [True, False, False]


async def test_calls_at_the_same_time_do_not_undo_what_others_found_out(
    model: OpenAIModel, server: ModelServer
) -> None:
    def respond(request: Request) -> Answer:
        if "max_tokens" in request.body:
            return error(400, "use max_completion_tokens instead of max_tokens")
        return error(400, "streaming is not supported") if request.body.get("stream") else Answer(chat("whole"))

    server.respond = respond
    limited, live = CallOptions(max_output_tokens=9), CallOptions(on_text=ignored)
    await asyncio.gather(model.complete(ASK, (), limited), model.complete(ASK, (), live))
    sent = len(server.requests)
    await model.complete(ASK, (), replace(limited, on_text=ignored))
    assert len(server.requests) == sent + 1


async def test_a_whole_reply_to_a_request_for_a_stream_is_read(model: OpenAIModel, server: ModelServer) -> None:
    server.respond = lambda _: Answer(chat("whole"))
    assert (await model.complete(ASK, (), CallOptions(on_text=ignored))).message.content == "whole"


async def test_fields_that_are_not_interpreted_are_joined(model: OpenAIModel, server: ModelServer) -> None:
    server.respond = lambda _: stream(
        chunk(role="assistant", reasoning_content="h"),
        chunk(reasoning_content="m", reasoning_details=[detail(0, text="th", signature=None), detail(1, data="AA")]),
        chunk(reasoning_details=[detail(0, text="ought"), detail(1, data="BB")]),
        chunk(reasoning_details=[detail(0, signature="S1")], provider={"region": "eu"}),
        chunk(tool_calls=[piece(0, "{", id="a", extra_content=SIGNED, function={"name": "look"})]),
        chunk("tool_calls", tool_calls=[piece(0, "}"), piece(1, "{}", id="b", function={"name": "look"})]),
    )
    message = (await model.complete(ASK, (LOOK,), CallOptions())).message
    assert message.reasoning == "hm"
    assert message.tool_calls == (ToolCall("a", "look", "{}"), ToolCall("b", "look", "{}"))
    assert message.provider_state == {
        "format": "chat_completions",
        "message": {
            "reasoning_content": "hm",
            "reasoning_details": [detail(0, text="thought", signature="S1"), detail(1, data="AABB")],
            "provider": {"region": "eu"},
        },
        "tool_calls": {"a": {"extra_content": SIGNED}},
    }


async def test_parts_and_texts_of_one_message_are_joined(model: OpenAIModel, server: ModelServer) -> None:
    """As Mistral streams: first a text, then thoughts as parts, then texts again."""
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    words = [chunk(content=piece) for piece in ("Wait. ", [thought], "", "It is ", "Red Dust!")]
    server.respond = lambda _: stream(*words, chunk("stop"))
    pieces: list[str] = []
    message = (await model.complete(ASK, (), CallOptions(on_text=collector(pieces)))).message
    assert message.content == "".join(pieces) == "Wait. It is Red Dust!"
    parts = [{"type": "text", "text": "Wait. "}, thought, {"type": "text", "text": "It is Red Dust!"}]
    assert message.provider_state == {"format": "chat_completions", "message": {"content": parts}}


SIGNED = {"google": {"thought_signature": "c2lnbmVk"}}


def detail(index: int, **fields: Any) -> dict[str, Any]:
    return {"type": "reasoning.text", "index": index, "format": "any-v1", **fields}


@pytest.mark.parametrize("index", [{}, {"index": None}], ids=["missing", "null"])
async def test_calls_without_an_index_are_joined_by_position(
    model: OpenAIModel, server: ModelServer, index: dict[str, None]
) -> None:
    calls = [{"id": name, "function": {"name": "look", "arguments": "{"}, **index} for name in "ab"]
    server.respond = lambda _: stream(
        chunk(tool_calls=calls), chunk("stop", tool_calls=[{"function": {"arguments": "}"}, **index}] * 2)
    )
    message = (await model.complete(ASK, (LOOK,), CallOptions())).message
    assert message.tool_calls == (ToolCall("a", "look", "{}"), ToolCall("b", "look", "{}"))


@pytest.mark.parametrize("asked", [False, True], ids=["unasked", "asked"])
async def test_a_stream_is_bounded(
    model: OpenAIModel, server: ModelServer, monkeypatch: pytest.MonkeyPatch, asked: bool
) -> None:
    monkeypatch.setattr(openai, "LONGEST_BODY", 10_000)
    server.respond = lambda _: stream(*[chunk(content="x" * 100)] * 100)
    with pytest.raises(ModelError, match="10,000 bytes") as failed:
        await model.complete(ASK, (), CallOptions(on_text=ignored if asked else None))
    assert failed.value.retryable
