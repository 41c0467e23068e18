"""Budgets of a run, and prices."""

import asyncio
from contextlib import suppress

import pytest

from graphwalk.config.calls import Limits, Price
from graphwalk.models.prices import STATED, KnownPrice
from graphwalk.models.wrappers import Budget, BudgetSpentError, priced
from graphwalk.types.chat import CallOptions, Usage
from tests.models.player import ASK, Player, in_run, said

PRICE = KnownPrice(price=Price(input=10.0, output=100.0), source="genai-prices")


async def test_only_calls_in_flight_go_over_the_budget() -> None:
    player = Player(said("x", usage=Usage(40, 6, cost=0.001)), seconds=0.005)
    budget = Budget(usd=0.2)
    model = in_run(player, Limits(max_concurrency=16), budget=budget)

    async def episode() -> None:
        with suppress(BudgetSpentError):
            while True:
                await model.complete(ASK, (), CallOptions())

    async with asyncio.timeout(60):
        await asyncio.gather(*(episode() for _ in range(16)))
    assert budget.exhausted
    assert 200 <= len(player.sent) < 200 + 16


@pytest.mark.parametrize(
    ("usage", "stated", "published"),
    [
        (Usage(1_000_000, 500_000), 4.0, 4.0),
        (Usage(1_000_000, 500_000, cost=0.5), 4.0, 0.5),
        (Usage(1_000_000, 500_000, cost=0.0), 4.0, 4.0),
        (Usage(1_000_000, 500_000, cached_tokens=400_000), 3.4, 3.4),
        (Usage(1_000_000, None), None, None),
    ],
)
def test_a_stated_price_has_priority_over_the_cost_that_a_provider_reports(
    usage: Usage, stated: float | None, published: float | None
) -> None:
    price = Price(input=2.0, output=4.0, cached_input=0.5)
    of_stated, of_published = (
        priced(usage, KnownPrice(price=price, source=source)) for source in (STATED, "genai-prices")
    )
    assert (of_stated.cost, of_published.cost) == (stated, published)


@pytest.mark.parametrize("usage", [Usage(), Usage(0, 0), Usage(0, 0, cost=0.0)], ids=["none", "0", "free"])
async def test_a_budget_ends_where_a_provider_reports_nothing(usage: Usage) -> None:
    notes: list[str] = []
    player = Player(said("a reply of several words", usage=usage))
    budget = Budget(usd=0.01)
    model = in_run(player, Limits(), price=PRICE, budget=budget, note=notes.append)
    while not budget.exhausted and len(player.sent) < 20:
        reply = await model.complete(ASK, (), CallOptions())
    assert 1 < len(player.sent) < 20
    assert reply.usage.estimated
    assert reply.usage.output_tokens >= 6
    assert ["does not report" in note for note in notes] == [True]
