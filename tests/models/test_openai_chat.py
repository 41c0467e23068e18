"""Chat Completions against a real server on loopback: what is sent, what is made of the reply."""

import json
import math
from typing import Any

import pytest

from graphwalk.errors import ModelError
from graphwalk.models.openai import OpenAIModel
from graphwalk.models.registry import open_model
from graphwalk.settings import Settings
from graphwalk.types.chat import CallOptions, Message, Reply, ToolCall, Usage
from tests.models.conftest import KEY
from tests.models.player import ASK, LOOK
from tests.models.server import Answer, ModelServer, chat, error


async def ask(model: OpenAIModel, server: ModelServer, body: Any) -> Reply:
    server.respond = lambda _: Answer(body)
    return await model.complete(ASK, (), CallOptions())


async def test_a_conversation_with_tools(model: OpenAIModel, server: ModelServer) -> None:
    server.respond = lambda _: Answer(chat(None, [("look", {"key": "a"}), ("look", {"key": "b"})]))
    reply = await model.complete(ASK, (LOOK,), CallOptions())
    assert reply.message.tool_calls == (
        ToolCall("call_0", "look", '{"key": "a"}'),
        ToolCall("call_1", "look", '{"key": "b"}'),
    )
    assert (reply.usage, reply.finish_reason, reply.model) == (Usage(10, 5), "tool_calls", "m")
    assert reply.seconds > 0
    results = [Message("tool", call.id, tool_call_id=call.id) for call in reply.message.tool_calls]
    await model.complete([*ASK, reply.message, *results], (LOOK,), CallOptions())
    sent = server.requests[-1].body["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "tool"]
    assert sent[1]["tool_calls"][0]["function"] == {"name": "look", "arguments": '{"key": "a"}'}


async def test_options_are_sent(model: OpenAIModel, server: ModelServer) -> None:
    options = CallOptions(0.5, 0.9, 77, "low", 3, parallel_tool_calls=False, extra={"top_k": 4})
    await model.complete(ASK, (LOOK,), options)
    body = server.requests[-1].body
    sent = {k: v for k, v in body.items() if k not in ("messages", "tools")}
    assert sent == {
        "model": "m",
        "temperature": 0.5,
        "top_p": 0.9,
        "max_tokens": 77,
        "reasoning_effort": "low",
        "seed": 3,
        "parallel_tool_calls": False,
        "top_k": 4,
    }
    assert body["tools"] == [LOOK.as_openai()]


async def test_nothing_is_sent_that_was_not_asked_for(model: OpenAIModel, server: ModelServer) -> None:
    await model.complete(ASK, (), CallOptions(parallel_tool_calls=True))
    assert set(server.requests[-1].body) == {"model", "messages"}


async def test_the_token_limit_takes_the_name_the_server_wants(model: OpenAIModel, server: ModelServer) -> None:
    def respond(request: Any) -> Answer:
        if "max_tokens" in request.body:
            return error(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
        return Answer(chat("ok"))

    server.respond = respond
    for _ in range(2):
        reply = await model.complete(ASK, (), CallOptions(max_output_tokens=5))
        assert reply.message.content == "ok"
    assert len(server.requests) == 3


async def test_bad_calls_are_sent_back_in_a_form_every_server_takes(model: OpenAIModel, server: ModelServer) -> None:
    calls = (ToolCall("1", "täg {x}", '{"key": '), ToolCall("2", "", "[1]"), ToolCall("3", "look", "{}"))
    await model.complete([*ASK, Message("assistant", "\ud800x", calls)], (), CallOptions())
    message = server.requests[-1].body["messages"][1]
    functions = [call["function"] for call in message["tool_calls"]]
    assert [f["name"] for f in functions] == ["t_g__x_", "unnamed", "look"]
    assert [json.loads(f["arguments"]) for f in functions] == [
        {"invalid_arguments": '{"key": '},
        {"invalid_arguments": "[1]"},
        {},
    ]
    assert message["content"] == "\ufffdx"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("x", "x"),
        (None, None),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": {"value": "b"}}, "c"], "abc"),
        ({"answer": 1}, '{"answer": 1}'),
        (7, "7"),
        ("\ud800\u0000\u202e", "\ud800\u0000\u202e"),
        ("x" * 10_000_000, "x" * 10_000_000),
    ],
    ids=["text", "null", "parts", "object", "number", "hostile", "huge"],
)
async def test_content(model: OpenAIModel, server: ModelServer, content: Any, text: str | None) -> None:
    assert (await ask(model, server, chat(content))).message.content == text


async def test_odd_tool_calls(model: OpenAIModel, server: ModelServer) -> None:
    body = chat()
    function = {"name": "look", "arguments": {"key": "a"}}
    body["choices"][0]["message"]["tool_calls"] = [
        {"id": "x", "function": function},
        {"id": "x", "function": {"name": "look", "arguments": None}},
        {"function": {"name": 5}},
        "nonsense",
    ]
    assert (await ask(model, server, body)).message.tool_calls == (
        ToolCall("x", "look", '{"key": "a"}'),
        ToolCall("call_1_1", "look", ""),
        ToolCall("call_1_2", "", ""),
        ToolCall("call_1_3", "", ""),
    )


async def test_reasoning_and_refusals(model: OpenAIModel, server: ModelServer) -> None:
    assert (await ask(model, server, chat("x", reasoning_content="hm"))).message.reasoning == "hm"
    assert (await ask(model, server, chat("x", reasoning="hm"))).message.reasoning == "hm"
    assert (await ask(model, server, chat(None, refusal="no"))).message.content == "no"


@pytest.mark.parametrize(
    ("wire", "usage"),
    [
        (None, Usage()),
        ("much", Usage()),
        ({"prompt_tokens": "9", "completion_tokens": -1, "cost": math.nan}, Usage()),
        ({"prompt_tokens": 10**400, "completion_tokens": True}, Usage()),
        ({"prompt_tokens": 9.0, "completion_tokens": 2, "cost": 0.25}, Usage(9, 2, cost=0.25)),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 2,
                "completion_tokens_details": {"reasoning_tokens": 1},
                "prompt_tokens_details": {"cached_tokens": 8},
            },
            Usage(9, 2, 1, 8),
        ),
    ],
)
async def test_usage(model: OpenAIModel, server: ModelServer, wire: Any, usage: Usage) -> None:
    assert (await ask(model, server, chat("x", usage=wire))).usage == usage


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{", b"<html>", b"\xff\xfe\xfa", b"[" * 100_000, b"9" * 10_000, b"null", [], {}, {"choices": []}),
        *({"choices": [{}]}, {"choices": [None]}, {"choices": {"0": 1}}, {"error": {"message": "x"}, "choices": None}),
    ],
    ids=lambda body: repr(body)[:20],
)
async def test_broken_bodies_are_worth_another_try(model: OpenAIModel, server: ModelServer, body: Any) -> None:
    with pytest.raises(ModelError) as failure:
        await ask(model, server, body)
    assert failure.value.retryable


async def test_a_reset_and_a_dead_server(model: OpenAIModel, server: ModelServer) -> None:
    server.respond = lambda _: Answer(b"{", then="reset")
    with pytest.raises(ModelError) as failure:
        await model.complete(ASK, (), CallOptions())
    assert failure.value.retryable
    await server.stop()
    with pytest.raises(ModelError) as failure:
        await model.complete(ASK, (), CallOptions())
    assert failure.value.retryable
    assert server.url.removeprefix("http://").removesuffix("/v1") in failure.value.hint


async def test_no_secret_is_repeated(server: ModelServer, settings: Settings) -> None:
    model = open_model("openai-chat/m", settings)
    for status in (401, 500):
        server.respond = lambda _, status=status: error(status, f"bad key {KEY}")  # type: ignore[misc]
        with pytest.raises(ModelError) as failure:
            await model.complete(ASK, (), CallOptions())
        assert KEY not in str(failure.value)
        assert "bad key ***" in str(failure.value)
    server.respond = lambda _: Answer(f"{KEY} is no JSON".encode())
    with pytest.raises(ModelError, match=r"\*\*\* is no JSON"):
        await model.complete(ASK, (), CallOptions())
    # Nor does a cut of the message leave half of it.
    server.respond = lambda _: error(400, "x" * 570 + KEY * 3)
    with pytest.raises(ModelError) as failure:
        await model.complete(ASK, (), CallOptions())
    assert KEY[:4] not in str(failure.value)
    await model.close()


async def test_a_key_in_an_address_is_not_repeated() -> None:
    settings = Settings({"X_BASE_URL": "http://me:pass-word@127.0.0.1:9/v1?key=planted"})
    model = open_model("openai-api/x/m", settings)
    with pytest.raises(ModelError) as failure:
        await model.complete(ASK, (), CallOptions())
    await model.close()
    assert failure.value.hint == "is a server running at 127.0.0.1:9?"
    assert not any(word in str(failure.value) for word in ("pass-word", "planted"))
