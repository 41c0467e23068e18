"""What a run may spend."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from graphwalk.errors import ModelError
from graphwalk.types.chat import Usage


class BudgetSpentError(ModelError):
    """A call was not made because the budget is spent."""


@dataclass
class Budget:
    """Tokens and US dollars that may be spent (None: no limit), and what has been.

    Near the end calls are made one after the other: what those under way may take at most is held back until they
    are paid. `unpriced` counts calls of unknown cost: where there are any, a limit in dollars cannot be kept.
    """

    tokens: int | None = None
    usd: float | None = None
    used: Usage = Usage()
    unpriced: int = 0
    _under_way: "list[Booking]" = field(default_factory=list)
    _freed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def limited(self) -> bool:
        return self.tokens is not None or self.usd is not None

    def charge(self, usage: Usage) -> None:
        self.used += usage
        self.unpriced += usage.cost is None

    @property
    def exhausted(self) -> bool:
        """True when nothing may be spent any more; calls under way are not taken back."""
        return not self._has_room(self.used)

    @contextmanager
    def booking(self, expected: Usage) -> "Iterator[Booking]":
        """One call, from the wait for its turn until it is paid. `expected` is what it may take at most."""
        booking = Booking(self, expected)
        try:
            yield booking
        finally:
            if booking in self._under_way:
                self._under_way.remove(booking)
                self._freed.set()
                self._freed = asyncio.Event()

    def _has_room(self, spent: Usage) -> bool:
        tokens, cost = spent.total_tokens, spent.cost or 0.0
        return (self.tokens is None or tokens < self.tokens) and (self.usd is None or cost < self.usd)


@dataclass(eq=False)
class Booking:
    """What one call holds back of a budget while it is under way."""

    budget: Budget
    expected: Usage

    def check(self) -> None:
        """BudgetSpentError where nothing may be spent any more."""
        if self.budget.exhausted:
            raise BudgetSpentError(
                "the budget of the run is spent", hint="resume with a higher --budget-usd or -tokens"
            )

    def taken(self) -> bool:
        """Hold back what the call may take, and let it be sent; False: it has to wait until others are paid.

        A call that is alone may always be sent, so that a budget can be spent to its end.
        """
        self.check()
        budget = self.budget
        if budget.limited and budget._under_way:
            held = sum((other.expected for other in budget._under_way), self.expected)
            if not budget._has_room(budget.used + held):
                return False
        budget._under_way.append(self)
        return True

    async def room(self) -> None:
        """Wait until a call that was under way is paid."""
        await self.budget._freed.wait()
