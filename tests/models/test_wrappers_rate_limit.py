"""One pace for many conversations."""

import asyncio

from graphwalk.config.calls import Limits
from graphwalk.errors import ModelError
from graphwalk.models.wrappers import RateLimited
from graphwalk.types.chat import CallOptions, Usage
from tests.models.player import ASK, Player, in_run, said

CLOCK = 0.001
"""Seconds by which a timer may be early: the resolution of the clock."""


def limited_to(player: Player, **limits: float) -> RateLimited:
    return RateLimited(player, Limits.model_validate(limits), note=print)


async def run(limited: RateLimited, calls: int) -> None:
    await asyncio.gather(*(limited.complete(ASK, (), CallOptions()) for _ in range(calls)))


async def test_requests_are_spaced() -> None:
    player, started = Player(), asyncio.get_running_loop().time()
    async with asyncio.timeout(60):
        await run(limited_to(player, requests_per_minute=1200), 7)
    assert all(time - started >= 0.05 * number - CLOCK for number, time in enumerate(player.times))


async def test_tokens_are_paid_off_before_the_next_call() -> None:
    player, started = Player(said("x", usage=Usage(90, 10))), asyncio.get_running_loop().time()
    async with asyncio.timeout(60):
        await run(limited_to(player, tokens_per_minute=60_000), 4)
    assert player.times[-1] - started >= 0.3 - CLOCK


async def test_one_pause_for_all() -> None:
    player = Player(ModelError("429", retryable=True, retry_after=0.3), said("ok"))
    model = in_run(player, Limits())
    first = asyncio.create_task(model.complete(ASK, (), CallOptions()))
    while not player.sent or player.running:  # noqa: ASYNC110
        await asyncio.sleep(0)
    await asyncio.gather(first, *(model.complete(ASK, (), CallOptions()) for _ in range(5)))
    assert all(time - player.times[0] >= 0.3 - CLOCK for time in player.times[1:])
