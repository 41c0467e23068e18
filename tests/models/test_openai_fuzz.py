"""Random replies over a real socket: each is a usable reply or a ModelError."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphwalk.config.calls import Limits
from graphwalk.errors import ModelError
from graphwalk.models.base import Model
from graphwalk.models.openai_servers import openai_api, openai_responses
from graphwalk.types.chat import CallOptions, Message, Reply
from graphwalk.variables import Variables
from tests.models.player import ASK, LOOK, in_run
from tests.models.server import Answer, ModelServer

WORDS = ["choices", "message", "content", "tool_calls", "function", "name", "arguments", "id", "error", "code", "usage"]
WORDS += ["output", "type", "text", "call_id", "reasoning", "summary", "status", "refusal", "cost", "look", "failed"]
WORDS += ["prompt_tokens", "incomplete", "context_length_exceeded", "function_call", "output_text"]
TEXT = st.text(st.characters(), max_size=8) | st.sampled_from([*WORDS, '{"name": "look", "arguments": {}}', "\ud800"])
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXT | st.just(10**30)
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=5), max_leaves=15
)


def fields(**shapes: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """An object of the right shape, with fields missing or wrong."""
    return st.fixed_dictionaries({}, optional={name: shape | ANYTHING for name, shape in shapes.items()})


FUNCTION = fields(name=TEXT, arguments=TEXT)
CALL = fields(id=TEXT, type=TEXT, function=FUNCTION)
PART = fields(type=TEXT, text=TEXT)
MESSAGE = fields(
    role=TEXT, content=TEXT | st.lists(PART), tool_calls=st.lists(CALL), function_call=FUNCTION, reasoning_content=TEXT
)
USAGE = fields(prompt_tokens=st.integers(), completion_tokens=st.integers(), prompt_tokens_details=ANYTHING)
CHAT = fields(choices=st.lists(fields(message=MESSAGE, finish_reason=TEXT)), usage=USAGE, model=TEXT, error=ANYTHING)
ITEM = fields(
    type=st.sampled_from(["message", "function_call", "reasoning"]),
    content=st.lists(PART),
    call_id=TEXT,
    name=TEXT,
    arguments=TEXT,
    summary=st.lists(PART),
)
RESPONSE = fields(output=st.lists(ITEM), status=TEXT, usage=USAGE, model=TEXT, error=ANYTHING)


def dumped(value: Any) -> bytes:
    return json.dumps(value).encode()


@st.composite
def damaged(draw: st.DrawFn, bodies: st.SearchStrategy[bytes]) -> bytes:
    """A body cut short, or with a byte changed."""
    body = bytearray(draw(bodies))
    place = draw(st.integers(0, len(body) - 1))
    if draw(st.booleans()):
        return bytes(body[:place])
    body[place] = draw(st.integers(0, 255))
    return bytes(body)


BODIES = st.one_of(
    (good := (CHAT | RESPONSE | ANYTHING).map(dumped)), damaged(good), st.binary(max_size=50), st.just(b"[" * 5000)
)
HEADERS = st.sampled_from(
    [
        *({}, {}, {"retry-after": "x"}, {"retry-after": "1e400"}, {"retry-after": "Tue, 99 Xyz 0 0:0:0"}),
        *({"content-encoding": "gzip"}, {"content-type": "text/html"}),
        {"content-type": "application/json; charset=nonsense"},
    ]
)
STATUSES = st.sampled_from([200] * 12 + [400, 404, 429, 500, 503, 302, 204, 600])


async def _twice(model: Model) -> None:
    """One call, and a second one in a conversation that holds whatever the first one said."""
    try:
        async with asyncio.timeout(60):
            reply = await model.complete(ASK, (LOOK,), CallOptions())
            assert isinstance(reply, Reply)
            _check_types(reply)
            results = [Message("tool", call.arguments, tool_call_id=call.id) for call in reply.message.tool_calls]
            await model.complete([*ASK, reply.message, *results], (LOOK,), CallOptions())
    except ModelError as error:
        str(error).encode("utf-8", "surrogatepass")


def _check_types(reply: Reply) -> None:
    assert reply.message.role == "assistant"
    assert reply.message.content is None or isinstance(reply.message.content, str)
    assert reply.message.reasoning is None or isinstance(reply.message.reasoning, str)
    assert isinstance(reply.finish_reason, str)
    assert isinstance(reply.model, str)
    ids = [call.id for call in reply.message.tool_calls]
    assert len(set(ids)) == len(ids)
    assert all(isinstance(call.name, str) and isinstance(call.arguments, str) for call in reply.message.tool_calls)


@pytest.mark.parametrize("examples", [150, pytest.param(5000, marks=pytest.mark.slow)])
def test_any_reply_is_survived(examples: int) -> None:
    with asyncio.Runner() as runner:
        server = ModelServer(record=False)
        runner.run(server.start())
        variables = Variables({"LOCAL_BASE_URL": server.url, "OPENAI_BASE_URL": server.url})
        models = [openai_api("local/m", variables), openai_responses("m", variables)]

        @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck), database=None)
        @given(body=BODIES, status=STATUSES, headers=HEADERS, model=st.sampled_from(models))
        def survives(body: bytes, status: int, headers: dict[str, str], model: Model) -> None:
            server.respond = lambda _: Answer(body, status, headers)
            runner.run(_twice(in_run(model, Limits(retries=0, max_concurrency=1))))

        try:
            survives()
        finally:
            for model in models:
                runner.run(model.close())
            runner.run(server.stop())
