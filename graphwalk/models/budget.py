"""The budget of a run, and the usage that a reply is charged with."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from graphwalk.config.calls import Price
from graphwalk.errors import ModelError
from graphwalk.models.tokens import RULE_ERROR, count_messages, count_tokens, tools_text
from graphwalk.types.chat import Message, Reply, ToolSpec, Usage


class BudgetSpentError(ModelError):
    """A call was not made because the budget is spent."""


@dataclass
class Budget:
    """Tokens and US dollars that may be spent (None: no limit), and those that were.

    Near the end calls are made one after the other: the expected usage of calls under way is held back. `unpriced`
    counts calls of unknown cost: where there are any, a limit in dollars cannot be kept.
    """

    tokens: int | None = None
    usd: float | None = None
    used: Usage = Usage()
    unpriced: int = 0
    _held: list[Usage] = field(default_factory=list)
    _freed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def limited(self) -> bool:
        return self.tokens is not None or self.usd is not None

    @property
    def exhausted(self) -> bool:
        """True when nothing may be spent any more; calls under way are not taken back."""
        return not self._has_room(self.used)

    def check(self) -> None:
        """Raise BudgetSpentError where nothing may be spent any more."""
        if self.exhausted:
            raise BudgetSpentError(
                "the budget of the run is spent", hint="resume with a higher --budget-usd or -tokens"
            )

    def charge(self, usage: Usage) -> None:
        self.used += usage
        self.unpriced += usage.cost is None

    @asynccontextmanager
    async def reservation(self, usage: Callable[[], Usage]) -> AsyncIterator[None]:
        """Wait until there is room for a call, and hold back its expected `usage` until it is paid.

        What is expected changes while a call waits: it is asked for again each time another one was paid.

        A call that is alone may always be sent, so that a budget can be spent to its end. BudgetSpentError where
        nothing may be spent any more.
        """
        while True:
            self.check()
            expected = usage() if self.limited else Usage()
            if not self.limited or not self._held or self._has_room(self.used + sum(self._held, expected)):
                break
            await self._freed.wait()
        self._held.append(expected)
        try:
            yield
        finally:
            self._held.remove(expected)
            self._freed.set()
            self._freed = asyncio.Event()

    def _has_room(self, spent: Usage) -> bool:
        tokens, cost = spent.total_tokens, spent.cost or 0.0
        return (self.tokens is None or tokens < self.tokens) and (self.usd is None or cost < self.usd)


def charged_usage(
    reply: Reply, messages: Sequence[Message], tools: Sequence[ToolSpec], model: str, price: Price | None
) -> Usage:
    """Return the usage of a reply with its cost. `messages` and `tools` are what was sent.

    A call takes tokens. Where a provider reports none, or none of input or output, they are estimated, rather too
    high than too low, and marked: a budget would not end otherwise. Reasoning that is not shown cannot be estimated.
    """
    usage = reply.usage
    if not usage.input_tokens:
        usage = replace(usage, input_tokens=pessimistic_input(messages, tools, model), estimated=True)
    said = reply.message
    if not usage.output_tokens and (said.content or said.tool_calls or usage.estimated):
        usage = replace(usage, output_tokens=_pessimistic(count_messages((said,), model)), estimated=True)
    return usage if price is None else replace(usage, cost=cost_of(usage, price))


def pessimistic_input(messages: Sequence[Message], tools: Sequence[ToolSpec], model: str) -> int:
    """Return the tokens of a request, rather too many than too few."""
    return _pessimistic(count_messages(messages, model) + count_tokens(tools_text(tools), model)[0])


def cost_of(usage: Usage, price: Price) -> float | None:
    """Return US dollars, None where no tokens are known. A cost above 0 that the provider reports comes first."""
    if usage.cost or usage.input_tokens is None or usage.output_tokens is None:
        return usage.cost
    cached = min(usage.cached_tokens or 0, usage.input_tokens)
    return price.cost(usage.input_tokens - cached, cached, usage.output_tokens)


def _pessimistic(tokens: int) -> int:
    return math.ceil(tokens * (1 + RULE_ERROR))
