"""OpenAI's two APIs against a local server: what is sent, what is read from replies and streams, and faults."""

import json
import math
from typing import Any

import pytest

from graphwalk.errors import ModelError
from graphwalk.models.chat import CallOptions, Message, Reply, ToolCall, Usage
from graphwalk.models.openai import OpenAIModel
from graphwalk.models.registry import open_model
from graphwalk.variables import Variables
from tests.models.conftest import KEY
from tests.models.player import ASK, LOOK
from tests.models.server import Answer, ModelServer, chat, error, responses, stream


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
    "refusal": ("chat", chat(None, refusal="no"), {"content": "no"}),
    "no message": ("chat", {"choices": [{"finish_reason": "length"}]}, {"content": None, "tool_calls": ()}),
    "reasoning content": ("chat", chat("x", reasoning_content="hm"), {"reasoning": "hm"}),
    "reasoning summaries": ("responses", with_summary("a", "b"), {"reasoning": "a\n\nb"}),
    "a call of 2023": (
        "chat",
        chat(function_call={"name": "look", "arguments": "{}"}),
        {"tool_calls": (ToolCall("call_1_0", "look", "{}"),), "provider_state": None},
    ),
    "content as a text": (
        "responses",
        {"status": "completed", "output": [{"type": "message", "content": "hello"}]},
        {"content": "hello"},
    ),
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
        ({"prompt_tokens": 9.0, "completion_tokens": 2, "cost": 0.25, **DETAILS}, Usage(9, 2, 1, 8, 0.25)),
    ],
)
async def test_usage_is_read(model: OpenAIModel, server: ModelServer, wire: Any, usage: Usage) -> None:
    assert (await read(model, server, chat("x", usage=wire))).usage == usage


async def test_the_finish_reason_of_an_incomplete_response(reasoning_model: OpenAIModel, server: ModelServer) -> None:
    for why, reason in (("max_output_tokens", "length"), ("content_filter", "content_filter")):
        body = responses("x", status="incomplete", incomplete_details={"reason": why})
        assert (await read(reasoning_model, server, body)).finish_reason == reason


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"status": "in_progress"}, "in_progress"),
        ({"status": "incomplete"}, "incomplete"),
        ({"status": "incomplete", "incomplete_details": {"reason": "server_gone"}}, "incomplete"),
        ({"status": None}, "stop"),
    ],
)
async def test_the_end_of_a_response_that_its_server_broke_off(
    reasoning_model: OpenAIModel, server: ModelServer, fields: dict[str, Any], reason: str
) -> None:
    assert (await read(reasoning_model, server, responses("x", **fields))).finish_reason == reason


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


def whole_call(arguments: Any, **more: Any) -> dict[str, Any]:
    return {"function": {"name": "look", "arguments": arguments}, **more}


A, B = '{"key": "a"}', '{"key": "b"}'
STREAMED_CALLS: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "another id at the same index": ([whole_call(A, index=0, id="a"), whole_call(B, index=0, id="b")], [A, B]),
    "no index": ([whole_call(A, id="a"), whole_call(B, id="b")], [A, B]),
    "no id": ([whole_call(A, index=0), whole_call(B, index=0)], [A, B]),
    "neither": ([whole_call('{"key"'), {"function": {"arguments": ': "a"}'}}, whole_call(B)], [A, B]),
    "an id for each piece": ([whole_call('{"key"', index=0, id="a"), piece(0, ': "a"}', id="x")], [A]),
    "interleaved": ([whole_call("{", index=0), whole_call("{", index=1), piece(0, "}"), piece(1, "}")], ["{}", "{}"]),
    "interleaved by id": (
        [whole_call("{", id="a"), whole_call("{", id="b"), *({"id": i, "function": {"arguments": "}"}} for i in "ab")],
        ["{}", "{}"],
    ),
    "an object and then nothing": ([whole_call({"key": "a"}, index=0, id="a"), piece(0, "")], ['{"key":"a"}']),
    "the name again": ([whole_call("{", index=0, id="a"), whole_call("}", index=0, id="a")], ["{}"]),
}


@pytest.mark.parametrize(("pieces", "arguments"), STREAMED_CALLS.values(), ids=STREAMED_CALLS)
async def test_streamed_calls_are_told_apart(
    model: OpenAIModel, server: ModelServer, pieces: list[dict[str, Any]], arguments: list[str]
) -> None:
    """Ollama, Gemini and others repeat the index, or leave it out."""
    server.respond = lambda _: stream(*(chunk(tool_calls=[one]) for one in pieces), chunk("tool_calls"))
    calls = (await model.complete(ASK, (LOOK,), CallOptions(on_text=Listener()))).message.tool_calls
    assert [(call.name, call.arguments) for call in calls] == [("look", text) for text in arguments]


async def test_a_whole_message_at_the_end_of_a_stream_is_not_read_twice(
    model: OpenAIModel, server: ModelServer
) -> None:
    whole = {"choices": [chat("hello", [("look", A)])["choices"][0]]}
    pieces = chunk(content="hello"), chunk(tool_calls=[whole_call(A, index=0, id="a")])
    for events in ((*pieces, whole), (whole,)):
        server.respond = lambda _, events=events: stream(*events)  # type: ignore[misc]
        listener = Listener()
        message = (await model.complete(ASK, (LOOK,), CallOptions(on_text=listener))).message
        assert (message.content, listener.pieces) == ("hello", ["hello"])
        assert [call.arguments for call in message.tool_calls] == [A]


@pytest.mark.parametrize("answer", [stream(chunk(content="yes"), chunk("stop"), done=False), Answer(chat("yes"))])
async def test_a_server_streams_or_not_whatever_it_was_asked(
    model: OpenAIModel, server: ModelServer, answer: Answer
) -> None:
    server.respond = lambda _: answer
    for options in (CallOptions(on_text=Listener()), CallOptions(), CallOptions(extra={"stream": True})):
        assert (await model.complete(ASK, (), options)).message.content == "yes"
    assert [request.body.get("stream") for request in server.requests] == [True, None, True]
    assert server.requests[-1].body["stream_options"] == {"include_usage": True}


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


STREAMED = stream(chunk(content="yes"), chunk("stop")).payload()
BY_CONTENT = {
    "a stream as JSON": (STREAMED, "application/json"),
    "JSON as a stream": (json.dumps(chat("yes")).encode(), "text/event-stream"),
    "a mark before JSON": (b"\xef\xbb\xbf \n" + json.dumps(chat("yes")).encode(), "application/json"),
    "a stream as text": (STREAMED.replace(b": hello", b""), "text/plain"),
    "[DONE] in place of an end": (stream(chunk(content="yes")).payload(), "text/event-stream"),
}


@pytest.mark.parametrize(("body", "kind"), BY_CONTENT.values(), ids=BY_CONTENT)
async def test_the_content_of_a_reply_decides_if_it_is_a_stream(
    model: OpenAIModel, server: ModelServer, body: bytes, kind: str
) -> None:
    server.respond = lambda _: Answer(body, headers={"content-type": kind})
    assert (await model.complete(ASK, (), CallOptions())).message.content == "yes"


async def test_a_field_is_left_out_by_null(model: OpenAIModel, server: ModelServer) -> None:
    server.respond = lambda _: stream(chunk(content="yes"), chunk("stop"))
    extra = {"stream_options": None, "temperature": None}
    await model.complete(ASK, (LOOK,), CallOptions(temperature=1.0, on_text=Listener(), extra=extra))
    assert server.requests[0].body.keys() == {"model", "messages", "tools", "stream"}


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
    message = (await model.complete(ASK, (LOOK,), CallOptions(on_text=Listener()))).message
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


PAGE = Answer(b"<!doctype html><p>Welcome", headers={"content-type": "text/html; charset=utf-8"})
HALF = stream({"choices": [{"delta": {"content": "half of"}}]}, done=False)
FAULTS: dict[str, tuple[Answer, str]] = {
    "empty": (Answer(b""), ""),
    "deep": (Answer(b"[" * 100_000), ""),
    "no message": (Answer({"choices": [{}]}), "without a reply"),
    "empty with an error": (Answer(b"", 500), "answered 500: no reason given"),
    "reset": (Answer(b"{", then="reset"), "no whole reply from 127.0.0.1"),
    "stream with nothing but its end": (stream(), "before the reply was whole"),
    "stream cut off": (HALF, "before the reply was whole"),
    "stream with an error": (stream({"error": {"message": "overloaded", "code": 503}}), "overloaded"),
    "broken stream": (Answer(b'data: {"choices": [\n\n', headers=HALF.headers), "JSONDecodeError"),
    "stream reset": (Answer(HALF.body, headers=HALF.headers, then="reset"), "no whole reply from 127.0.0.1"),
    "web page": (PAGE, "answered 200"),
}


async def failure(model: OpenAIModel, server: ModelServer, answer: Answer, **options: Any) -> ModelError:
    server.respond = lambda _: answer
    with pytest.raises(ModelError) as failed:
        await model.complete(ASK, (), CallOptions(**options))
    return failed.value


@pytest.mark.parametrize(("answer", "cause"), FAULTS.values(), ids=FAULTS)
async def test_a_fault_names_the_server_and_its_cause(
    model: OpenAIModel, server: ModelServer, answer: Answer, cause: str
) -> None:
    for options in (
        ({"on_text": Listener()},) if "event-stream" in str(answer.headers) else ({}, {"on_text": Listener()})
    ):
        failed = await failure(model, server, answer, **options)
        assert cause in str(failed)
        assert failed.retryable == (answer is not PAGE)


PLANTED = "planted-path-key"
HIDING: dict[str, Answer | None] = {
    "refused": error(401, f"bad key {KEY}"),
    "key cut off": error(400, "x" * 570 + KEY * 3),
    "no JSON": Answer(f"{KEY} is no JSON".encode()),
    "reset": Answer(b"{", then="reset"),
    "redirect": error(307, location="http://127.0.0.1:9/"),
    "no server": None,
}


@pytest.mark.parametrize("answer", HIDING.values(), ids=HIDING)
async def test_an_error_names_the_host_and_neither_path_nor_key(server: ModelServer, answer: Answer | None) -> None:
    address = server.url.removesuffix("/v1").replace("//", "//me:pass-word@") + f"/{PLANTED}/v1?key={PLANTED}"
    model: Any = open_model("openai-chat/m", Variables({"OPENAI_BASE_URL": address, "OPENAI_API_KEY": KEY}))
    if answer is None:
        await server.stop()
    failed = await failure(model, server, answer or Answer())
    await model.close()
    host = server.url.split("/")[2]
    assert host in str(failed)
    assert not any(secret in f"{failed} {failed.hint}" for secret in (PLANTED, KEY[:4], "pass-word"))
    if answer is None:
        assert not failed.retryable
        assert failed.hint == "start the server, or correct OPENAI_BASE_URL"


PROPS, MODELS, VERSION, SHOW = "/props", "/v1/models", "/api/version", "/api/show"


def listed(name: str, **fields: Any) -> dict[str, Any]:
    return {"object": "list", "data": [{"id": "other", "max_model_len": 1}, {"id": name, **fields}]}


@pytest.mark.parametrize(
    ("bodies", "tokens"),
    [
        ({PROPS: {"default_generation_settings": {"n_ctx": 4096}}, MODELS: listed("m", max_model_len=8192)}, 4096),
        ({MODELS: listed("m", max_model_len=8192)}, 8192),
        ({MODELS: listed("m", context_length=16_384)}, 16_384),
        (
            {
                VERSION: {"version": "0.12"},
                SHOW: {"model_info": {"llama.block_count": 2, "llama.context_length": 131_072}},
            },
            131_072,
        ),
        ({}, None),
        ({MODELS: listed("another", max_model_len=8192)}, None),
        ({PROPS: [], MODELS: {"data": [1, {"id": "m", "max_model_len": "8192"}]}, VERSION: b"<html>"}, None),
    ],
    ids=["llama.cpp", "vLLM", "length", "Ollama", "no such paths", "another model", "broken"],
)
async def test_the_context_window_that_a_server_reports(
    model: OpenAIModel, server: ModelServer, bodies: dict[str, Any], tokens: int | None
) -> None:
    server.facts = {path: Answer(body) for path, body in bodies.items()}
    assert await model.context_tokens() == tokens
    assert server.fact_paths == dict.fromkeys((PROPS, MODELS, VERSION, *({SHOW} & bodies.keys())), 1)
    assert not server.requests
