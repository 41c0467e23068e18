"""One after the other through the turnstile, and nobody held up for long."""

import asyncio

from graphwalk.models.calls.turnstile import Turnstile

HOPS = 10
"""Rounds of the event loop that a turn of an episode takes, as LangGraph's steps do."""


async def test_requests_are_sent_one_after_the_other_though_all_replies_are_there() -> None:
    turnstile, happened = Turnstile(), list[int]()
    under_way = most = 0

    async def turn(number: int) -> None:
        nonlocal under_way, most
        await turnstile.through()
        under_way += 1
        most = max(most, under_way)
        for _ in range(HOPS):
            await asyncio.sleep(0)
        under_way -= 1
        happened.append(number)

    await asyncio.gather(*(turn(number) for number in range(50)))
    assert happened == list(range(50))
    assert most <= 3


async def test_nobody_waits_for_one_who_waits_for_something_else() -> None:
    turnstile, answered = Turnstile(), asyncio.Event()

    async def asks_a_database() -> None:
        await turnstile.through()
        await answered.wait()

    slow = asyncio.create_task(asks_a_database())
    await asyncio.sleep(0)
    async with asyncio.timeout(5):
        for _ in range(3):
            await turnstile.through()
    assert not slow.done()
    answered.set()
    await slow


async def test_whoever_is_cancelled_holds_nobody_up() -> None:
    turnstile = Turnstile()
    await turnstile.through()
    waiting = [asyncio.create_task(turnstile.through()) for _ in range(6)]
    await asyncio.sleep(0)
    for task in waiting[1::2]:
        task.cancel()
    async with asyncio.timeout(5):
        await asyncio.gather(*waiting[::2])
        await turnstile.through()


async def test_one_cancelled_in_any_moment_around_its_turn_holds_nobody_up() -> None:
    for rounds in range(60):
        turnstile = Turnstile()
        await turnstile.through()
        first, second = (asyncio.create_task(turnstile.through()) for _ in range(2))
        for _ in range(rounds):
            await asyncio.sleep(0)
        first.cancel()
        async with asyncio.timeout(5):
            await second
