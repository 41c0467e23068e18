"""Servers that hang, dawdle or never end: the deadline is kept and no connection stays behind."""

import asyncio
import time
from collections.abc import Sequence

import pytest

from graphwalk.config.calls import Limits
from graphwalk.errors import ModelError
from graphwalk.models.backends.endpoint import Endpoint
from graphwalk.models.backends.openai_chat import OpenAIChatModel
from graphwalk.models.calls.caller import Caller
from graphwalk.types.chat import CallOptions
from tests.models.player import ASK
from tests.models.server import Answer, ModelServer, chat

HANGING = {
    "silence": Answer(chat("late"), delay=60),
    "a byte now and then": Answer(chat("late"), drip=0.1),
    "half a body": Answer(b'{"choices": [', then="hang"),
    "endless": Answer(b"{", then="endless"),
}


@pytest.mark.parametrize("answer", HANGING.values(), ids=HANGING.keys())
async def test_the_deadline_is_kept(model: OpenAIChatModel, server: ModelServer, answer: Answer) -> None:
    server.respond = lambda _: answer
    started = time.perf_counter()
    caller = Caller(model, Limits(call_seconds=0.4, retries=0))
    calls = [caller.complete(ASK, (), CallOptions()) for _ in range(4)]
    failures: Sequence[object] = await asyncio.gather(*calls, return_exceptions=True)
    assert all(isinstance(f, ModelError) and f.retryable for f in failures)
    assert time.perf_counter() - started < 1.4
    await _until_no_connection(server)


async def test_a_cancelled_call_leaves_no_connection(model: OpenAIChatModel, server: ModelServer) -> None:
    server.respond = lambda _: Answer(chat("late"), delay=60)
    call = asyncio.create_task(Caller(model, Limits(call_seconds=60)).complete(ASK, (), CallOptions()))
    await asyncio.sleep(0.3)
    assert server.connections == 1
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await _until_no_connection(server)


async def test_an_endless_reply_is_cut_off(server: ModelServer) -> None:
    server.respond = lambda _: Answer(b"{", then="endless")
    model = OpenAIChatModel("m", Endpoint(server.url, "key", longest_body=10**6), "m")
    with pytest.raises(ModelError, match="1,000,000 bytes"):
        await model.complete(ASK, (), CallOptions())
    await _until_no_connection(server)
    await model.close()


async def _until_no_connection(server: ModelServer) -> None:
    for _ in range(100):
        if server.connections:
            await asyncio.sleep(0.01)
    assert server.connections == 0
