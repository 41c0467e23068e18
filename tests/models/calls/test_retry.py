"""When a call is tried again, how often, and never earlier than the server allows."""

import asyncio
import itertools

import pytest

from graphwalk.config.calls import Limits
from graphwalk.errors import ModelError
from graphwalk.models.backends.failure import OverloadedError
from graphwalk.models.backends.openai_chat import OpenAIChatModel
from graphwalk.models.calls.caller import Caller
from graphwalk.seeds import stdlib_random
from graphwalk.types.chat import CallOptions, Usage
from tests.models.player import ASK, Player, said
from tests.models.server import Answer, ModelServer, chat, error

AGAIN = ModelError("busy", retryable=True)


def retrying(player: Player, retries: int = 3, first: float = 0.01) -> Caller:
    return Caller(player, Limits(retries=retries), first_wait=first, seed=1)


async def test_it_tries_until_it_works() -> None:
    player = Player(AGAIN, AGAIN, said("ok"))
    assert (await retrying(player).complete(ASK, (), CallOptions())).message.content == "ok"
    assert len(player.sent) == 3


async def test_it_gives_up_with_the_last_error() -> None:
    player = Player(AGAIN)
    with pytest.raises(ModelError, match="busy"):
        await retrying(player).complete(ASK, (), CallOptions())
    assert len(player.sent) == 4


async def test_it_does_not_try_what_cannot_help() -> None:
    player = Player(ModelError("wrong key"))
    with pytest.raises(ModelError, match="wrong key"):
        await retrying(player).complete(ASK, (), CallOptions())
    assert len(player.sent) == 1


async def test_waits_grow_and_are_drawn_from_the_seed() -> None:
    waits = []
    for _ in range(2):
        player = Player(AGAIN)
        with pytest.raises(ModelError):
            await retrying(player, retries=4, first=0.02).complete(ASK, (), CallOptions())
        waits.append([b - a for a, b in itertools.pairwise(player.times)])
    draw = stdlib_random(1, "retry", "test/player")
    expected = [draw.uniform(0, 0.02 * 2**n) for n in range(4)]
    assert waits[0] == pytest.approx(expected, abs=0.02)
    assert waits[1] == pytest.approx(waits[0], abs=0.02)


@pytest.mark.parametrize("header", [{"retry_after": "0.3"}, {"retry_after_ms": "300"}])
async def test_never_earlier_than_the_server_allows(
    model: OpenAIChatModel, server: ModelServer, header: dict[str, str]
) -> None:
    answers = [error(429, "slow down", **header), error(503, "not yet", **header), Answer(chat("ok"))]
    server.respond = lambda _: answers.pop(0)
    await Caller(model, Limits(retries=5), first_wait=0.001).complete(ASK, (), CallOptions())
    times = [request.time for request in server.requests]
    assert all(later - earlier >= 0.3 for earlier, later in itertools.pairwise(times))


async def test_the_deadline_from_outside_ends_any_wait() -> None:
    player = Player(ModelError("busy", retryable=True, retry_after=500.0))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await retrying(player).complete(ASK, (), CallOptions())


async def test_an_endless_pause_fails_the_call_and_no_other() -> None:
    player = Player(OverloadedError("slow down", retryable=True, retry_after=1e9), said("ok", usage=Usage(1, 1)))
    notes: list[str] = []
    model = Caller(player, Limits(pause_seconds=120), note=notes.append)
    with pytest.raises(
        ModelError, match=r"slow down; it asks to wait 1,000,000,000 s, and calls wait 120 s at most"
    ) as failure:
        await model.complete(ASK, (), CallOptions())
    assert "limits.pause_seconds" in failure.value.hint
    assert len(player.sent) == 1
    async with asyncio.timeout(1):
        assert (await model.complete(ASK, (), CallOptions())).message == said("ok").message
    assert notes == []


async def test_a_long_pause_is_announced_once() -> None:
    notes: list[str] = []
    player = Player(OverloadedError("slow down", retryable=True, retry_after=90.0), seconds=0.01)
    model = Caller(player, Limits(), note=notes.append)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await asyncio.gather(*(model.complete(ASK, (), CallOptions()) for _ in range(8)))
    assert notes == ["test/player: its server asks for a pause of 90 s; all calls wait"]
    assert len(player.sent) == 8
