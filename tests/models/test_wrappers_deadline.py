"""Servers that hang, dawdle or never end: the deadline is kept and no connection stays behind."""

import asyncio
from collections.abc import Sequence

import pytest

from graphwalk.config.calls import Limits
from graphwalk.errors import ModelError
from graphwalk.models.openai import OpenAIModel
from graphwalk.types.chat import CallOptions
from tests.models.player import ASK, in_run
from tests.models.server import Answer, ModelServer, chat

HANGING = {
    "silence": Answer(chat("late"), delay=60),
    "a byte now and then": Answer(chat("late"), drip=0.1),
    "half a body": Answer(b'{"choices": [', then="hang"),
    "endless": Answer(b"{", then="endless"),
}


@pytest.mark.parametrize("answer", HANGING.values(), ids=HANGING.keys())
async def test_the_deadline_is_kept(model: OpenAIModel, server: ModelServer, answer: Answer) -> None:
    server.respond = lambda _: answer
    caller = in_run(model, Limits(call_seconds=0.4, retries=0))
    calls = [caller.complete(ASK, (), CallOptions()) for _ in range(4)]
    failures: Sequence[object] = await asyncio.gather(*calls, return_exceptions=True)
    assert all(isinstance(f, ModelError) and f.retryable for f in failures)
    await _until_no_connection(server)


async def test_a_cancelled_call_leaves_no_connection(model: OpenAIModel, server: ModelServer) -> None:
    server.respond = lambda _: Answer(chat("late"), delay=60)
    call = asyncio.create_task(in_run(model, Limits(call_seconds=60)).complete(ASK, (), CallOptions()))
    async with asyncio.timeout(30):
        while not server.requests:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert server.connections == 1
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await _until_no_connection(server)


async def _until_no_connection(server: ModelServer) -> None:
    async with asyncio.timeout(30):
        while server.connections:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
