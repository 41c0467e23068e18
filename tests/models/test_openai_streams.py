"""Streams: asked for, sent unasked or by servers that only stream, joined, and passed on as they arrive."""

from collections.abc import Callable
from typing import Any

import pytest

from graphwalk.config.calls import Limits
from graphwalk.models.openai import OpenAIModel
from graphwalk.models.wrappers import RESTARTED
from graphwalk.types.chat import CallOptions, Message, ToolCall
from tests.models.player import ASK, LOOK, in_run
from tests.models.server import Answer, ModelServer, Request, chat, error, responses, stream, take_text


def chunk(reason: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"id": "c", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def piece(index: int, arguments: str, **more: Any) -> dict[str, Any]:
    return {"index": index, "function": {"arguments": arguments, **more.pop("function", {})}, **more}


NAME = {"name": "look"}
WORDS = (
    chunk(role="assistant", content=""),
    chunk(content="Grü"),
    chunk(content="ße", reasoning_content="hm"),
    chunk(tool_calls=[piece(1, '{"key"', id="b", function=NAME)]),
    chunk(tool_calls=[piece(0, '{"key": "a"}', id="a", function=NAME), piece(1, ': "b"}')]),
    chunk("tool_calls"),
    {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5}},
)


class Listener:
    """A callback for the text of a reply."""

    def __init__(self) -> None:
        self.pieces: list[str] = []

    async def __call__(self, piece: str) -> None:
        self.pieces.append(piece)


def refusing(words: str, refuses: Callable[[Any], bool], answer: Answer) -> Callable[[Request], Answer]:
    """A server that refuses some requests with these words."""
    return lambda request: error(400, words) if refuses(request.body) else answer


async def test_a_server_without_usage_in_streams_is_asked_for_none(model: OpenAIModel, server: ModelServer) -> None:
    words = "extra fields not permitted: stream_options"
    server.respond = refusing(words, lambda body: "stream_options" in body, stream(*WORDS))
    assert (await model.complete(ASK, (), CallOptions(on_text=take_text))).message.content == "Grüße"
    assert "stream" not in server.requests[-1].body


@pytest.mark.parametrize("answer", [stream(chunk(content="yes"), chunk("stop"), done=False), Answer(chat("yes"))])
async def test_a_reply_in_the_other_form_is_read(model: OpenAIModel, server: ModelServer, answer: Answer) -> None:
    server.respond = lambda _: answer
    for options in (CallOptions(), CallOptions(extra={"stream": True}), CallOptions(on_text=take_text)):
        assert (await model.complete(ASK, (), options)).message.content == "yes"
    assert [request.body.get("stream", False) for request in server.requests] == [False, True, True]


async def test_the_text_of_a_response_is_passed_on_as_it_arrives(
    reasoning_model: OpenAIModel, server: ModelServer
) -> None:
    deltas = [{"type": "response.output_text.delta", "delta": text} for text in ("hel", "lo")]
    whole = {"type": "response.completed", "response": responses("hello")}
    server.respond = lambda _: stream({"type": "response.created", "response": {}}, *deltas, whole, done=False)
    listener = Listener()
    for on_text in (listener, None):
        reply = await reasoning_model.complete(ASK, (), CallOptions(on_text=on_text))
        assert (reply.message.content, listener.pieces) == ("hello", ["hel", "lo"])
    assert server.requests[0].body["stream"] is True
    assert "stream_options" not in server.requests[0].body


async def test_text_that_is_streamed_again_is_marked(model: OpenAIModel, server: ModelServer) -> None:
    half = stream(chunk(content="half"), done=False)
    answers = iter([error(503), half, error(503), half, stream(chunk(content="whole"), chunk("stop"))])
    server.respond = lambda _: next(answers)
    listener = Listener()
    reply = await in_run(model, Limits(retries=4)).complete(ASK, (), CallOptions(on_text=listener))
    assert (reply.message.content, listener.pieces) == ("whole", ["half", RESTARTED, "half", RESTARTED, "whole"])


SIGNED = {"google": {"thought_signature": "c2lnbmVk"}}


def detail(index: int, **fields: Any) -> dict[str, Any]:
    return {"type": "reasoning.text", "index": index, "format": "any-v1", **fields}


async def test_fields_that_are_not_interpreted_are_joined(model: OpenAIModel, server: ModelServer) -> None:
    server.respond = lambda _: stream(
        chunk(role="assistant", reasoning_content="h"),
        chunk(reasoning_content="m", reasoning_details=[detail(0, text="th", signature=None), detail(1, data="AA")]),
        chunk(reasoning_details=[detail(0, text="ought"), detail(1, data="BB")]),
        chunk(reasoning_details=[detail(0, signature="S1")], provider={"region": "eu"}),
        chunk(tool_calls=[piece(0, "{", id="a", extra_content=SIGNED, function=NAME)]),
        chunk("tool_calls", tool_calls=[piece(0, "}"), piece(1, "{}", id="b", function=NAME)]),
    )
    message = (await model.complete(ASK, (LOOK,), CallOptions())).message
    state = {
        "reasoning_content": "hm",
        "reasoning_details": [detail(0, text="thought", signature="S1"), detail(1, data="AABB")],
        "provider": {"region": "eu"},
    }
    calls = (ToolCall("a", "look", "{}"), ToolCall("b", "look", "{}"))
    of_calls = {"a": {"extra_content": SIGNED}}
    provider_state = {"format": "chat_completions", "message": state, "tool_calls": of_calls}
    assert message == Message("assistant", None, calls, reasoning="hm", provider_state=provider_state)


async def test_parts_and_texts_of_one_message_are_joined(model: OpenAIModel, server: ModelServer) -> None:
    """As Mistral streams: first a text, then thoughts as parts, then texts again."""
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    words = [chunk(content=content) for content in ("Wait. ", [thought], "", "It is ", "Red Dust!")]
    server.respond = lambda _: stream(*words, chunk("stop"))
    listener = Listener()
    message = (await model.complete(ASK, (), CallOptions(on_text=listener))).message
    assert message.content == "".join(listener.pieces) == "Wait. It is Red Dust!"
    parts = [{"type": "text", "text": "Wait. "}, thought, {"type": "text", "text": "It is Red Dust!"}]
    assert message.provider_state == {"format": "chat_completions", "message": {"content": parts}}
