"""Streams: asked for, sent unasked or by servers that only stream, joined, and passed on as they arrive."""

from typing import Any

from graphwalk.models.openai import OpenAIModel
from graphwalk.types.chat import CallOptions, Message, ToolCall
from tests.models.player import ASK, LOOK
from tests.models.server import Answer, ModelServer, chat, responses, stream, take_text


def chunk(reason: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"id": "c", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def piece(index: int, arguments: str, **more: Any) -> dict[str, Any]:
    return {"index": index, "function": {"arguments": arguments, **more.pop("function", {})}, **more}


NAME = {"name": "look"}


class Listener:
    """A callback for the text of a reply."""

    def __init__(self) -> None:
        self.pieces: list[str] = []

    async def __call__(self, piece: str) -> None:
        self.pieces.append(piece)


async def test_a_server_that_only_streams_is_asked_for_a_stream(model: OpenAIModel, server: ModelServer) -> None:
    server.respond = lambda _: stream(chunk(content="yes"), chunk("stop"), done=False)
    assert (await model.complete(ASK, (), CallOptions(extra={"stream": True}))).message.content == "yes"


async def test_a_server_that_does_not_stream_is_read(model: OpenAIModel, server: ModelServer) -> None:
    server.respond = lambda _: Answer(chat("yes"))
    assert (await model.complete(ASK, (), CallOptions(on_text=take_text))).message.content == "yes"
    assert server.requests[0].body["stream"] is True


async def test_the_text_of_a_response_is_passed_on_as_it_arrives(
    reasoning_model: OpenAIModel, server: ModelServer
) -> None:
    deltas = [{"type": "response.output_text.delta", "delta": text} for text in ("hel", "lo")]
    whole = {"type": "response.completed", "response": responses("hello")}
    server.respond = lambda _: stream({"type": "response.created", "response": {}}, *deltas, whole, done=False)
    listener = Listener()
    reply = await reasoning_model.complete(ASK, (), CallOptions(on_text=listener))
    assert (reply.message.content, listener.pieces) == ("hello", ["hel", "lo"])
    assert server.requests[0].body["stream"] is True
    assert "stream_options" not in server.requests[0].body


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
    message = (await model.complete(ASK, (LOOK,), CallOptions(on_text=take_text))).message
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
