"""Random replies over a real socket: each is a usable reply or a ModelError."""

import asyncio
import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphwalk.config.agent import Limits
from graphwalk.errors import ModelError
from graphwalk.models.chat import CallOptions, Message, Model
from graphwalk.models.registry import open_server
from graphwalk.variables import Variables
from tests.models.player import ASK, LOOK, in_run
from tests.models.server import Answer, ModelServer, chat, responses

TEXT = st.text(st.characters(), max_size=8) | st.sampled_from(["", "\ud800", "look", "error", "{}", "function_call"])
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXT | st.just(10**30)
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=5), max_leaves=15
)
CALLS = [("look", {"key": "a"}), ("look", "{")]
GOOD: list[dict[str, Any]] = [
    chat("hm", CALLS, reasoning_content="hm"),
    responses("hm", CALLS),
    {"error": {"message": "too long", "code": "context_length_exceeded"}},
]


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A good reply of which up to three parts are missing or anything."""
    body = copy.deepcopy(draw(st.sampled_from(GOOD)))
    for _ in range(draw(st.integers(0, 3))):
        place: Any = body
        while place:
            key = draw(st.sampled_from([*(place if isinstance(place, dict) else range(len(place)))]))
            if isinstance(place[key], dict | list) and place[key] and draw(st.booleans()):
                place = place[key]
            elif draw(st.booleans()):
                place[key] = draw(ANYTHING)
                break
            else:
                del place[key]
                break
    return json.dumps(body).encode()


BODIES = st.one_of(
    damaged(),
    damaged().map(lambda body: body[: len(body) // 2]),
    ANYTHING.map(lambda value: json.dumps(value).encode()),
    st.binary(max_size=50),
    st.just(b"[" * 5000),
)
HEADERS = st.sampled_from(
    [
        *({}, {}, {"retry-after": "x"}, {"retry-after": "1e400"}, {"content-encoding": "gzip"}),
        *({"content-type": "text/html"}, {"content-type": "application/json; charset=nonsense"}),
    ]
)
STATUSES = st.sampled_from([200] * 12 + [400, 404, 429, 500, 503, 302, 204, 600])


async def _twice(model: Model) -> None:
    """One call, and a second one in a conversation that holds whatever the first one said."""
    try:
        async with asyncio.timeout(60):
            message = (await model.complete(ASK, (LOOK,), CallOptions())).message
            results = [Message("tool", call.arguments, tool_call_id=call.id) for call in message.tool_calls]
            assert len({call.id for call in message.tool_calls}) == len(results)
            await model.complete([*ASK, message, *results], (LOOK,), CallOptions())
    except ModelError as error:
        str(error).encode("utf-8", "surrogatepass")


@pytest.mark.parametrize(
    "examples", [40, pytest.param(200, marks=pytest.mark.extended), pytest.param(5000, marks=pytest.mark.slow)]
)
def test_any_reply_is_survived(examples: int) -> None:
    with asyncio.Runner() as runner:
        server = ModelServer(record=False)
        runner.run(server.start())
        variables = Variables({"LOCAL_BASE_URL": server.url, "OPENAI_BASE_URL": server.url})
        models = [open_server(spec, variables) for spec in ("openai-api/local/m", "openai-responses/m")]

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
