"""What a reply is charged with: what its provider reports, and an estimate where that cannot be."""

import math
from collections.abc import Sequence
from dataclasses import replace

from graphwalk.config.calls import Price
from graphwalk.models.tokens import RULE_ERROR, count_messages, count_tokens, tools_text
from graphwalk.types.chat import Message, Reply, ToolSpec, Usage


def charged(
    reply: Reply, messages: Sequence[Message], tools: Sequence[ToolSpec], model: str, price: Price | None
) -> Usage:
    """The usage of a reply with its cost. `messages` and `tools` are what was sent.

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
    """Tokens of what is sent, rather too many than too few."""
    return _pessimistic(count_messages(messages, model) + count_tokens(tools_text(tools), model)[0])


def cost_of(usage: Usage, price: Price) -> float | None:
    """US dollars; what the provider itself reports comes first, unless that is 0. None where no tokens are known."""
    if usage.cost or usage.input_tokens is None or usage.output_tokens is None:
        return usage.cost
    cached = min(usage.cached_tokens or 0, usage.input_tokens)
    return price.cost(usage.input_tokens - cached, cached, usage.output_tokens)


def _pessimistic(tokens: int) -> int:
    return math.ceil(tokens * (1 + RULE_ERROR))
