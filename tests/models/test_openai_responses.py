"""The Responses API against a real server on loopback."""

from typing import Any

import pytest

from graphwalk.errors import ModelError
from graphwalk.models.openai import OpenAIModel
from graphwalk.types.chat import CallOptions, Message, ToolCall, Usage
from tests.models.player import ASK, LOOK
from tests.models.server import Answer, ModelServer, responses


async def test_reasoning_goes_back_with_the_results(reasoning_model: OpenAIModel, server: ModelServer) -> None:
    server.respond = lambda _: Answer(responses(None, [("look", {"key": "a"})]))
    reply = await reasoning_model.complete((Message("system", "be brief"), *ASK), (LOOK,), CallOptions())
    assert (reply.message.role, reply.message.content) == ("assistant", None)
    assert reply.message.tool_calls == (ToolCall("call_0", "look", '{"key": "a"}'),)
    assert reply.usage == Usage(10, 5, 3)
    assert reply.finish_reason == "tool_calls"
    result = Message("tool", "seen", tool_call_id="call_0")
    await reasoning_model.complete([*ASK, reply.message, result], (LOOK,), CallOptions())
    assert server.requests[1].body["input"] == [
        {"role": "user", "content": "hi"},
        {"type": "reasoning", "summary": [], "encrypted_content": "c2VjcmV0IHRob3VnaHRz"},
        {"type": "function_call", "call_id": "call_0", "name": "look", "arguments": '{"key": "a"}'},
        {"type": "function_call_output", "call_id": "call_0", "output": "seen"},
    ]


async def test_conversation_without_reasoning_items(reasoning_model: OpenAIModel, server: ModelServer) -> None:
    earlier = Message("assistant", "text", (ToolCall("c9", "look", "{}"),))
    await reasoning_model.complete([*ASK, earlier, Message("tool", "x", tool_call_id="c9")], (LOOK,), CallOptions())
    kinds = [item.get("type", item.get("role")) for item in server.requests[0].body["input"]]
    assert kinds == ["user", "assistant", "function_call", "function_call_output"]


async def test_nothing_is_stored_and_options_are_sent(reasoning_model: OpenAIModel, server: ModelServer) -> None:
    options = CallOptions(0.5, None, 77, "high", parallel_tool_calls=False, extra={"service_tier": "flex"})
    reply = await reasoning_model.complete(ASK, (LOOK,), options)
    assert reply.message.content == "hello"
    body = {k: v for k, v in server.requests[0].body.items() if k not in ("input", "tools")}
    assert body == {
        "model": "o9",
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "temperature": 0.5,
        "max_output_tokens": 77,
        "reasoning": {"effort": "high"},
        "parallel_tool_calls": False,
        "service_tier": "flex",
    }
    assert server.requests[0].body["tools"][0]["name"] == "look"


@pytest.mark.parametrize(
    ("body", "finish_reason"),
    [
        (responses("x"), "stop"),
        (responses("x", status="incomplete", incomplete_details={"reason": "max_output_tokens"}), "length"),
        (responses("x", status="incomplete", incomplete_details={"reason": "content_filter"}), "content_filter"),
        (responses("x", status="incomplete"), "incomplete"),
    ],
)
async def test_finish_reasons(reasoning_model: OpenAIModel, server: ModelServer, body: Any, finish_reason: str) -> None:
    server.respond = lambda _: Answer(body)
    assert (await reasoning_model.complete(ASK, (), CallOptions())).finish_reason == finish_reason


@pytest.mark.parametrize(
    ("body", "retryable"),
    [
        ({}, True),
        (b"[]", True),
        ({"output": "x"}, True),
        (responses("x", status="failed"), True),
        (responses(status="failed", error={"code": "server_error", "message": "x"}), True),
        (responses(status="failed", error={"code": "context_length_exceeded", "message": "x"}), False),
    ],
)
async def test_failures(reasoning_model: OpenAIModel, server: ModelServer, body: Any, retryable: bool) -> None:
    server.respond = lambda _: Answer(body)
    with pytest.raises(ModelError) as failure:
        await reasoning_model.complete(ASK, (), CallOptions())
    assert failure.value.retryable == retryable
    assert failure.value.context_overflow != retryable


async def test_summaries_of_reasoning_are_shown(reasoning_model: OpenAIModel, server: ModelServer) -> None:
    body = responses("x")
    body["output"][0]["summary"] = [{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}]
    server.respond = lambda _: Answer(body)
    assert (await reasoning_model.complete(ASK, (), CallOptions())).message.reasoning == "a\n\nb"
