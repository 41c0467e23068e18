"""What a call is expected to take at most, before it is made: so much of the budget is held back for it."""

import math
from collections.abc import Sequence

from graphwalk.config.calls import Price
from graphwalk.models.calls.charge import pessimistic_input
from graphwalk.types.chat import CallOptions, Message, ToolSpec, Usage

_FIRST_REPLY = 1000
"""Tokens of a reply, before there was one."""
_LONGER = 2
"""How many times as long as the longest so far the next reply may be."""


class Expected:
    """Learns from the replies of one model, whose price may not be known."""

    def __init__(self, model: str, price: Price | None) -> None:
        self._model, self._price = model, price
        self._longest = 0
        # Without a price nothing is known before the first reply, which is therefore waited for.
        self._dearest = math.inf if price is None else 0.0

    def usage(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Usage:
        sent = pessimistic_input(messages, tools, self._model)
        said = options.max_output_tokens or self._longest * _LONGER or _FIRST_REPLY
        by_price = 0.0 if self._price is None else self._price.cost(sent, 0, said)
        return Usage(sent, said, cost=max(by_price, self._dearest))

    def learn(self, usage: Usage) -> None:
        """Take a reply into account."""
        self._longest = max(self._longest, usage.output_tokens or 0)
        known = 0.0 if math.isinf(self._dearest) else self._dearest
        self._dearest = max(known, usage.cost or 0.0)
