"""One pace for many conversations."""

import asyncio
import random

import pytest

from graphwalk.errors import ModelError
from graphwalk.models.backends.failure import OverloadedError
from graphwalk.models.calls.rate_limit import RateLimitedModel, RateLimiter
from graphwalk.models.calls.retry import RetryingModel
from graphwalk.types.chat import CallOptions, Message, Usage
from tests.models.players import ASK, Player, said


async def run(model: RateLimitedModel, calls: int) -> list[object]:
    return await asyncio.gather(*(model.complete(ASK, (), CallOptions()) for _ in range(calls)), return_exceptions=True)


async def test_no_more_at_a_time_than_allowed() -> None:
    player = Player(seconds=0.01)
    await run(RateLimitedModel(player, RateLimiter(3)), 12)
    assert (player.most_running, len(player.sent)) == (3, 12)


async def test_requests_are_spaced() -> None:
    player = Player()
    await run(RateLimitedModel(player, RateLimiter(8, requests_per_minute=1200)), 7)
    since_first = [time - player.times[0] for time in player.times]
    slack = 0.02  # a busy machine wakes the first call late, and so shortens what comes after it
    assert all(since >= 0.05 * number - slack for number, since in enumerate(since_first))
    assert since_first[-1] < 5


async def test_tokens_are_paid_off_before_the_next_call() -> None:
    player = Player(said("x", usage=Usage(90, 10)))
    await run(RateLimitedModel(player, RateLimiter(1, tokens_per_minute=60_000)), 4)
    assert 0.2 <= player.times[-1] - player.times[0] < 5


async def test_estimates_are_corrected() -> None:
    limiter = RateLimiter(4, tokens_per_minute=60_000)
    message = (Message("user", "x" * 4_000_000),)
    player = Player(said("x", usage=Usage(50, 50)))
    model = RateLimitedModel(player, limiter)
    for _ in range(2):
        await model.complete(message, (), CallOptions())
    assert player.times[1] - player.times[0] < 5


async def test_a_storm_halves_the_concurrency_once_per_round() -> None:
    limiter = RateLimiter(16)
    await run(RateLimitedModel(Player(OverloadedError("429", retryable=True), seconds=0.01), limiter), 16)
    assert limiter.concurrency == 8
    await run(RateLimitedModel(Player(OverloadedError("429", retryable=True), seconds=0.01), limiter), 8)
    assert limiter.concurrency == 4


async def test_it_recovers_slowly_and_never_stands_still() -> None:
    limiter = RateLimiter(4)
    storm = RateLimitedModel(Player(OverloadedError("429", retryable=True)), limiter)
    for _ in range(9):
        await run(storm, 1)
    assert limiter.concurrency == 1
    calm = RateLimitedModel(Player(), limiter)
    await run(calm, 2)
    assert limiter.concurrency == 2
    await run(calm, 20)
    assert limiter.concurrency == 4


async def test_other_failures_do_not_slow_down() -> None:
    limiter = RateLimiter(4)
    await run(RateLimitedModel(Player(ModelError("broken", retryable=True)), limiter), 4)
    assert limiter.concurrency == 4


async def test_one_pause_for_all() -> None:
    limiter = RateLimiter(8)
    player = Player(OverloadedError("429", retryable=True, retry_after=0.3), said("ok"))
    model = RetryingModel(RateLimitedModel(player, limiter), 3, random.Random(1), first=0.001)
    first = asyncio.create_task(model.complete(ASK, (), CallOptions()))
    await asyncio.sleep(0.05)
    await asyncio.gather(first, *(model.complete(ASK, (), CallOptions()) for _ in range(5)))
    assert all(time - player.times[0] >= 0.3 for time in player.times[1:])


async def test_cancelled_calls_give_their_places_back() -> None:
    limiter = RateLimiter(2, requests_per_minute=6000)
    player = Player(seconds=0.02)
    model = RateLimitedModel(player, limiter)
    draw = random.Random(3)
    calls = [asyncio.create_task(model.complete(ASK, (), CallOptions())) for _ in range(60)]
    for call in calls:
        if draw.random() < 0.5:
            asyncio.get_running_loop().call_later(draw.random() * 0.3, call.cancel)
    await asyncio.gather(*calls, return_exceptions=True)
    await run(model, 4)
    assert player.most_running == 2
    assert (player.running, limiter._running, len(limiter._waiting)) == (0, 0, 0)


@pytest.mark.parametrize("share", [0.1, 0.5])
async def test_all_calls_finish_in_a_storm(share: float) -> None:
    draw = random.Random(5)

    class Stormy(Player):
        async def complete(self, *arguments: object) -> object:  # type: ignore[override]
            reply = await super().complete(*arguments)  # type: ignore[arg-type]
            if draw.random() < share:
                raise OverloadedError("503", retryable=True)
            return reply

    limiter = RateLimiter(16)
    model = RetryingModel(RateLimitedModel(Stormy(), limiter), 20, random.Random(1), first=0.001)
    replies = await asyncio.gather(*(model.complete(ASK, (), CallOptions()) for _ in range(100)))
    assert len(replies) == 100
