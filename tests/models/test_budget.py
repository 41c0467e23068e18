"""Budgets of a run, and prices."""

import asyncio

import pytest

from graphwalk.config.calls import Price
from graphwalk.models.calls.budget import Budget, BudgetedModel, BudgetSpentError, PricedModel
from graphwalk.types.chat import CallOptions, Usage
from tests.models.players import ASK, Player, said


@pytest.mark.parametrize("budget", [Budget(tokens=100), Budget(usd=1.25)], ids=["tokens", "dollars"])
async def test_overshoot_is_what_was_under_way(budget: Budget) -> None:
    player = Player(said("x", usage=Usage(8, 2, cost=0.125)), seconds=0.005)

    async def episode() -> int:
        model = BudgetedModel(player, budget)
        for call in range(100):
            try:
                await model.complete(ASK, (), CallOptions())
            except BudgetSpentError:
                return call
        return 100

    calls = await asyncio.gather(*(episode() for _ in range(8)))
    assert 10 <= sum(calls) == len(player.sent) <= 17
    assert budget.used.total_tokens == 10 * len(player.sent)


def test_no_limit_is_never_spent_and_unknown_cost_is_counted() -> None:
    budget = Budget()
    budget.charge(Usage(10**9, 10**9, cost=10.0**9))
    budget.charge(Usage())
    assert not budget.exhausted
    assert (budget.used, budget.unpriced) == (Usage(10**9, 10**9, cost=10.0**9), 1)


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        (Usage(1_000_000, 500_000), 4.0),
        (Usage(1_000_000, 500_000, cost=0.5), 0.5),
        (Usage(1_000_000, None), None),
        (Usage(), None),
    ],
)
async def test_prices(usage: Usage, cost: float | None) -> None:
    model = PricedModel(Player(said("x", usage=usage)), Price(input=2.0, output=4.0))
    assert (await model.complete(ASK, (), CallOptions())).usage.cost == cost
