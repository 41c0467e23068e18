"""What a run may spend, and what a call costs where the provider does not say."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from graphwalk.config.calls import Price
from graphwalk.errors import ModelError
from graphwalk.models.model import Model
from graphwalk.types.chat import CallOptions, Message, Reply, ToolSpec, Usage

_MILLION = 1_000_000


class BudgetSpentError(ModelError):
    """A call was not made because the budget is spent."""


@dataclass
class Budget:
    """Tokens and US dollars that may be spent (None: no limit), and what has been.

    `unpriced` counts calls of unknown cost: where there are any, a limit in dollars cannot be kept.
    """

    tokens: int | None = None
    usd: float | None = None
    used: Usage = Usage()
    unpriced: int = 0

    def charge(self, usage: Usage) -> None:
        self.used += usage
        self.unpriced += usage.cost is None

    @property
    def exhausted(self) -> bool:
        """True when nothing may be spent any more; calls under way are not taken back."""
        return (self.tokens is not None and self.used.total_tokens >= self.tokens) or (
            self.usd is not None and (self.used.cost or 0.0) >= self.usd
        )


class BudgetedModel:
    """Makes no call once the budget is spent (BudgetSpentError), and charges every reply to it.

    Replies out of a cache are charged as well, so that a resumed run ends where an undisturbed one does.
    """

    def __init__(self, model: Model, budget: Budget) -> None:
        self.name = model.name
        self._model = model
        self._budget = budget

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        if self._budget.exhausted:
            raise BudgetSpentError(
                "the budget of the run is spent", hint="resume with a higher --budget-usd or -tokens"
            )
        reply = await self._model.complete(messages, tools, options)
        self._budget.charge(reply.usage)
        return reply

    async def close(self) -> None:
        await self._model.close()


class PricedModel:
    """Fills in the cost of a reply from its tokens, where the provider reports tokens and no cost."""

    def __init__(self, model: Model, price: Price) -> None:
        self.name = model.name
        self._model = model
        self._price = price

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        reply = await self._model.complete(messages, tools, options)
        cost = cost_of(reply.usage, self._price)
        return reply if cost is None else replace(reply, usage=replace(reply.usage, cost=cost))

    async def close(self) -> None:
        await self._model.close()


def cost_of(usage: Usage, price: Price) -> float | None:
    """US dollars; None where the provider reports the cost itself, or no tokens."""
    if usage.cost is not None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    return (usage.input_tokens * price.input + usage.output_tokens * price.output) / _MILLION
