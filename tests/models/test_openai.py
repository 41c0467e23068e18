"""OpenAI's two APIs against a local server: what is sent, and what is read from a reply."""

import json
import math
from typing import Any

import pytest

from graphwalk.models.openai import OpenAIModel
from graphwalk.types.chat import CallOptions, Message, Reply, ToolCall, Usage
from tests.models.player import ASK, LOOK
from tests.models.server import Answer, ModelServer, chat, responses


@pytest.fixture
def models(model: OpenAIModel, reasoning_model: OpenAIModel) -> dict[str, OpenAIModel]:
    return {"chat": model, "responses": reasoning_model}


async def read(model: OpenAIModel, server: ModelServer, body: Any) -> Reply:
    server.respond = lambda _: Answer(body)
    return await model.complete(ASK, (LOOK,), CallOptions())


OPTIONS: dict[str, tuple[str, CallOptions, dict[str, Any]]] = {
    "chat": (
        "chat",
        CallOptions(0.5, 0.9, 77, "low", 3, parallel_tool_calls=False, extra={"top_k": 4}),
        {
            "model": "m",
            "temperature": 0.5,
            "top_p": 0.9,
            "max_tokens": 77,
            "reasoning_effort": "low",
            "seed": 3,
            "parallel_tool_calls": False,
            "top_k": 4,
        },
    ),
    "chat without options": ("chat", CallOptions(), {"model": "m"}),
    "responses, nothing stored": (
        "responses",
        CallOptions(0.5, None, 77, "high", parallel_tool_calls=False, extra={"service_tier": "flex"}),
        {
            "model": "o9",
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "temperature": 0.5,
            "max_output_tokens": 77,
            "reasoning": {"effort": "high"},
            "parallel_tool_calls": False,
            "service_tier": "flex",
        },
    ),
}


@pytest.mark.parametrize(("api", "options", "fields"), OPTIONS.values(), ids=OPTIONS)
async def test_options_are_sent_and_nothing_else(
    models: dict[str, OpenAIModel], server: ModelServer, api: str, options: CallOptions, fields: dict[str, Any]
) -> None:
    assert (await models[api].complete(ASK, (LOOK,), options)).message.content == "hello"
    body = server.requests[0].body
    (tool,) = body.pop("tools")
    assert tool.get("function", tool)["name"] == "look"
    assert {name: value for name, value in body.items() if name not in ("messages", "input")} == fields
    await models[api].complete(ASK, (), CallOptions(parallel_tool_calls=True))
    assert not {"tools", "parallel_tool_calls"} & server.requests[1].body.keys()


async def test_a_conversation_with_tools(model: OpenAIModel, server: ModelServer) -> None:
    reply = await read(model, server, chat(None, [("look", {"key": "a"}), ("look", {"key": "b"})]))
    calls = ToolCall("call_0", "look", '{"key": "a"}'), ToolCall("call_1", "look", '{"key": "b"}')
    assert reply == Reply(Message("assistant", None, calls), Usage(10, 5), "tool_calls", reply.seconds, "m")
    assert reply.seconds > 0
    results = [Message("tool", call.id, tool_call_id=call.id) for call in calls]
    await model.complete([*ASK, reply.message, *results], (LOOK,), CallOptions())
    sent = server.requests[-1].body["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "tool"]
    assert sent[1]["tool_calls"][0]["function"] == {"name": "look", "arguments": '{"key": "a"}'}


async def test_bad_calls_are_sent_back_in_a_form_every_server_takes(model: OpenAIModel, server: ModelServer) -> None:
    calls = (ToolCall("1", "täg {x}", '{"key": '), ToolCall("2", "", "[1]"), ToolCall("3", "look", "{}"))
    await model.complete([*ASK, Message("assistant", "\ud800x", calls)], (), CallOptions())
    message = server.requests[-1].body["messages"][1]
    functions = [call["function"] for call in message["tool_calls"]]
    assert [(one["name"], json.loads(one["arguments"])) for one in functions] == [
        ("t_g__x_", {"invalid_arguments": '{"key": '}),
        ("unnamed", {"invalid_arguments": "[1]"}),
        ("look", {}),
    ]
    assert message["content"] == "?x"


def with_calls(*calls: Any) -> dict[str, Any]:
    body = chat()
    body["choices"][0]["message"]["tool_calls"] = list(calls)
    return body


def with_summary(*texts: str) -> dict[str, Any]:
    body = responses("x")
    body["output"][0]["summary"] = [{"type": "summary_text", "text": text} for text in texts]
    return body


ODD_CALLS = with_calls(
    {"id": "x", "function": {"name": "look", "arguments": {"key": "a"}}},
    {"id": "x", "function": {"name": "look", "arguments": None}},
    {"function": {"name": 5}},
    "nonsense",
)
PARTS = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, "c"]
MESSAGES: dict[str, tuple[str, Any, dict[str, Any]]] = {
    "parts": ("chat", chat(PARTS), {"content": "abc"}),
    "hostile": ("chat", chat("\ud800\u0000\u202e"), {"content": "\ud800\u0000\u202e"}),
    "refusal": ("chat", chat(None, refusal="no"), {"content": "no"}),
    "reasoning": ("chat", chat("x", reasoning="hm"), {"reasoning": "hm"}),
    "reasoning content": ("chat", chat("x", reasoning_content="hm"), {"reasoning": "hm"}),
    "reasoning summaries": ("responses", with_summary("a", "b"), {"reasoning": "a\n\nb"}),
    "odd calls": (
        "chat",
        ODD_CALLS,
        {
            "tool_calls": (
                ToolCall("x", "look", '{"key": "a"}'),
                ToolCall("call_1_1", "look", ""),
                ToolCall("call_1_2", "", ""),
                ToolCall("call_1_3", "", ""),
            )
        },
    ),
}


@pytest.mark.parametrize(("api", "body", "fields"), MESSAGES.values(), ids=MESSAGES)
async def test_messages_are_read(
    models: dict[str, OpenAIModel], server: ModelServer, api: str, body: Any, fields: dict[str, Any]
) -> None:
    message = (await read(models[api], server, body)).message
    assert {name: getattr(message, name) for name in fields} == fields


DETAILS = {"completion_tokens_details": {"reasoning_tokens": 1}, "prompt_tokens_details": {"cached_tokens": 8}}


@pytest.mark.parametrize(
    ("wire", "usage"),
    [
        ({"prompt_tokens": "9", "completion_tokens": -1, "cost": math.nan}, Usage()),
        ({"prompt_tokens": 9.0, "completion_tokens": 2, "cost": 0.25}, Usage(9, 2, cost=0.25)),
        ({"prompt_tokens": 9, "completion_tokens": 2, **DETAILS}, Usage(9, 2, 1, 8)),
    ],
)
async def test_usage_is_read(model: OpenAIModel, server: ModelServer, wire: Any, usage: Usage) -> None:
    assert (await read(model, server, chat("x", usage=wire))).usage == usage


@pytest.mark.parametrize(
    ("details", "finish_reason"),
    [
        ({}, "stop"),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "length"),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, "content_filter"),
    ],
)
async def test_finish_reasons_of_responses(
    reasoning_model: OpenAIModel, server: ModelServer, details: Any, finish_reason: str
) -> None:
    assert (await read(reasoning_model, server, responses("x", **details))).finish_reason == finish_reason
