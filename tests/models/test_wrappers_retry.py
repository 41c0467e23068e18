"""When a call is tried again, how often, and never earlier than the server allows."""

import asyncio
import itertools
from typing import Any

import pytest

from graphwalk.config.calls import Limits
from graphwalk.errors import ModelError
from graphwalk.models import wrappers
from graphwalk.models.openai import OpenAIModel
from graphwalk.models.provider_replies import OverloadedError
from graphwalk.models.wrappers import Cached
from graphwalk.seeds import stdlib_random
from graphwalk.types.chat import CallOptions
from tests.models.player import ASK, Player, in_run, said
from tests.models.server import Answer, ModelServer, chat, error

AGAIN = ModelError("busy", retryable=True)


def retrying(player: Player, retries: int = 3) -> Cached:
    return in_run(player, Limits(retries=retries), seed=1)


@pytest.mark.parametrize(
    ("outcomes", "cause", "calls"),
    [
        ([AGAIN, AGAIN, said("ok")], None, 3),
        ([AGAIN], "busy", 4),
        ([ModelError("wrong key")], "wrong key", 1),
    ],
    ids=["success in the end", "the last error", "permanent"],
)
async def test_retryable_errors_are_retried(outcomes: list[Any], cause: str | None, calls: int) -> None:
    player = Player(*outcomes)
    if cause is None:
        assert (await retrying(player).complete(ASK, (), CallOptions())).message.content == "ok"
    else:
        with pytest.raises(ModelError, match=cause):
            await retrying(player).complete(ASK, (), CallOptions())
    assert len(player.sent) == calls


async def test_waits_grow_and_are_drawn_from_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    sleep = asyncio.sleep

    async def recorded(seconds: float) -> None:
        waits.extend([seconds] if seconds else [])
        await sleep(seconds)

    monkeypatch.setattr(asyncio, "sleep", recorded)
    monkeypatch.setattr(wrappers, "FIRST_WAIT", 0.02)
    random = stdlib_random(1, "retry", "test/player")
    expected = [random.uniform(0, 0.02 * 2**n) for n in range(4)]
    for _ in range(2):
        waits.clear()
        with pytest.raises(ModelError):
            await retrying(Player(AGAIN), retries=4).complete(ASK, (), CallOptions())
        assert waits == expected


@pytest.mark.parametrize("header", [{"retry_after": "0.3"}, {"retry_after_ms": "300"}])
async def test_never_earlier_than_the_server_allows(
    model: OpenAIModel, server: ModelServer, header: dict[str, str]
) -> None:
    answers = [error(429, "slow down", **header), error(503, "not yet", **header), Answer(chat("ok"))]
    server.respond = lambda _: answers.pop(0)
    await in_run(model, Limits(retries=5)).complete(ASK, (), CallOptions())
    times = [request.time for request in server.requests]
    assert all(later - earlier >= 0.3 - 0.001 for earlier, later in itertools.pairwise(times))


async def test_a_long_pause_is_announced_once() -> None:
    notes: list[str] = []
    player = Player(OverloadedError("slow down", retryable=True, retry_after=90.0), seconds=0.01)
    model = in_run(player, Limits(), note=notes.append)
    calls = [asyncio.create_task(model.complete(ASK, (), CallOptions())) for _ in range(8)]
    async with asyncio.timeout(30):
        while len(player.sent) < 8 or player.running:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    assert notes == ["test/player: its server asks for a pause of 90 s; all calls wait"]
    assert len(player.sent) == 8
