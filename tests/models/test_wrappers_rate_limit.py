"""One pace for many conversations."""

import asyncio
import random

from graphwalk.config.calls import Limits
from graphwalk.models.provider_replies import OverloadedError
from graphwalk.models.wrappers import RateLimited
from graphwalk.types.chat import CallOptions, Message, Usage
from tests.models.player import ASK, Player, in_run, said

CLOCK = 0.001
"""Seconds by which a timer may be early: the resolution of the clock."""


def limited_to(concurrency: int, **limits: float) -> RateLimited:
    chosen = Limits.model_validate({"max_concurrency": concurrency, **limits})
    return RateLimited(Player(), chosen, check=lambda: None, note=print)


async def send(limited: RateLimited, player: Player, messages: tuple[Message, ...] = ASK) -> None:
    limited.inner = player
    await limited.complete(messages, (), CallOptions())


async def run(limited: RateLimited, player: Player, calls: int) -> None:
    await asyncio.gather(*(send(limited, player) for _ in range(calls)), return_exceptions=True)


async def test_no_more_at_a_time_than_allowed() -> None:
    player = Player(seconds=0.01)
    await run(limited_to(3), player, 12)
    assert (player.most_running, len(player.sent)) == (3, 12)


async def test_requests_are_spaced() -> None:
    player, started = Player(), asyncio.get_running_loop().time()
    async with asyncio.timeout(60):
        await run(limited_to(8, requests_per_minute=1200), player, 7)
    assert all(time - started >= 0.05 * number - CLOCK for number, time in enumerate(player.times))


async def test_tokens_are_paid_off_before_the_next_call() -> None:
    player, started = Player(said("x", usage=Usage(90, 10))), asyncio.get_running_loop().time()
    async with asyncio.timeout(60):
        await run(limited_to(1, tokens_per_minute=60_000), player, 4)
    assert player.times[-1] - started >= 0.3 - CLOCK


async def test_a_storm_halves_the_concurrency_once_per_round() -> None:
    limited = limited_to(16)
    await run(limited, Player(OverloadedError("429", retryable=True), seconds=0.01), 16)
    assert limited.concurrency == 8
    await run(limited, Player(OverloadedError("429", retryable=True), seconds=0.01), 8)
    assert limited.concurrency == 4


async def test_one_pause_for_all() -> None:
    player = Player(OverloadedError("429", retryable=True, retry_after=0.3), said("ok"))
    model = in_run(player, Limits())
    first = asyncio.create_task(model.complete(ASK, (), CallOptions()))
    while not player.sent or player.running:  # noqa: ASYNC110
        await asyncio.sleep(0)
    await asyncio.gather(first, *(model.complete(ASK, (), CallOptions()) for _ in range(5)))
    assert all(time - player.times[0] >= 0.3 - CLOCK for time in player.times[1:])


async def test_cancelled_calls_give_their_places_back() -> None:
    limited = limited_to(2, requests_per_minute=6000)
    player = Player(seconds=0.02)
    draw = random.Random(3)
    calls = [asyncio.create_task(send(limited, player)) for _ in range(60)]
    for call in calls:
        if draw.random() < 0.5:
            asyncio.get_running_loop().call_later(draw.random() * 0.3, call.cancel)
    await asyncio.gather(*calls, return_exceptions=True)
    await run(limited, player, 4)
    assert player.most_running == 2
    assert (player.running, limited._running) == (0, 0)
