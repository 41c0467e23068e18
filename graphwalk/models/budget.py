"""The budget of a run, and the usage and cost of a reply."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from graphwalk.errors import ModelError
from graphwalk.models.prices import KnownPrice
from graphwalk.models.tokens import RULE_ERROR, count_messages, count_tokens, tools_text
from graphwalk.types.chat import Message, Reply, ToolSpec, Usage


class BudgetSpentError(ModelError):
    """Error for a call that was not made because the budget is spent."""


@dataclass
class Budget:
    """A budget in tokens and US dollars (None: no limit), and what is spent.

    The expected usage of calls in flight is reserved, so that calls near the end of the budget wait for each other.
    `unpriced` counts calls of unknown cost; with any of these a limit in dollars cannot be kept.
    """

    tokens: int | None = None
    usd: float | None = None
    used: Usage = Usage()
    unpriced: int = 0
    _held: list[Usage] = field(default_factory=list)
    _freed: asyncio.Condition = field(default_factory=asyncio.Condition)

    @property
    def limited(self) -> bool:
        return self.tokens is not None or self.usd is not None

    @property
    def exhausted(self) -> bool:
        """True if the budget is spent; calls in flight still end."""
        return not self._has_room(self.used)

    def check(self) -> None:
        """Raise BudgetSpentError if the budget is spent."""
        if self.exhausted:
            raise BudgetSpentError(
                "the budget of the run is spent", hint="resume with a higher --budget-usd or -tokens"
            )

    def charge(self, usage: Usage) -> None:
        self.used += usage
        self.unpriced += usage.cost is None

    @asynccontextmanager
    async def reservation(self, expected: Callable[[], Usage | None]) -> AsyncIterator[None]:
        """Wait until the budget has room for a call, and reserve its expected usage while the block runs.

        `expected` is called again after each call that ends; None: unknown, and the call waits for all others. A single
        call may always start, so that a budget can be spent to its end. Raise BudgetSpentError if the budget is spent.
        """
        if not self.limited:
            yield
            return

        def may_start() -> bool:
            self.check()
            usage = expected()
            return not self._held or (usage is not None and self._has_room(self.used + sum(self._held, usage)))

        async with self._freed:
            await self._freed.wait_for(may_start)
            held = expected() or Usage()
            self._held.append(held)
        try:
            yield
        finally:
            self._held.remove(held)
            async with self._freed:
                self._freed.notify_all()

    def _has_room(self, spent: Usage) -> bool:
        tokens, usd = spent.total_tokens, spent.cost or 0.0
        return (self.tokens is None or tokens < self.tokens) and (self.usd is None or usd < self.usd)


def charged_usage(
    reply: Reply,
    messages: Sequence[Message],
    tools: Sequence[ToolSpec],
    price: KnownPrice | None,
) -> Usage:
    """Return the usage of a reply with its cost, as `priced`. `messages` and `tools` are those of the request.

    Tokens that the provider does not report are estimated, rather too high than too low, and marked as estimated:
    without them a budget would never end. Hidden reasoning cannot be estimated.
    """
    usage, message = reply.usage, reply.message
    if not usage.input_tokens:
        sent = count_messages(messages) + count_tokens(tools_text(tools))
        usage = replace(usage, input_tokens=_pessimistic(sent), estimated=True)
    if not usage.output_tokens and (message.content or message.tool_calls or usage.estimated):
        usage = replace(usage, output_tokens=_pessimistic(count_messages((message,))), estimated=True)
    return usage if price is None else priced(usage, price)


def priced(usage: Usage, price: KnownPrice) -> Usage:
    """Return the usage with its cost, unchanged if tokens are unknown.

    A price that the user stated has priority over the cost that the provider reports; a published price has not, unless
    that cost is 0.
    """
    if usage.input_tokens is None or usage.output_tokens is None:
        return usage
    cached = min(usage.cached_tokens or 0, usage.input_tokens)
    if usage.cost and not price.stated:
        return usage
    return replace(usage, cost=price.price.cost(usage.input_tokens - cached, cached, usage.output_tokens))


def _pessimistic(tokens: int) -> int:
    return math.ceil(tokens * (1 + RULE_ERROR))
