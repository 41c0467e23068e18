"""The tools of one episode: their descriptions, and the results of calls."""

from collections.abc import Sequence
from typing import Protocol

from graphwalk.models.chat import ToolCall, ToolSpec
from graphwalk.models.trajectory import ToolResult


class Toolbox(Protocol):
    """Tools over one graph. No call ever raises to the model: a mistake is a text in the result, and is counted.

    StoreError passes through: the database failed, not the model.
    """

    @property
    def specs(self) -> Sequence[ToolSpec]:
        """Return the descriptions for the model."""
        ...

    @property
    def ordered(self) -> bool:
        """Return True if a call changes later results, so that the calls of one turn run in sequence."""
        ...

    async def call(self, call: ToolCall) -> ToolResult:
        """Run one call."""
        ...


class ToolboxWrapper:
    """Tools that forward everything to `inner`; a lever changes one thing."""

    def __init__(self, inner: Toolbox) -> None:
        self.inner = inner

    @property
    def specs(self) -> Sequence[ToolSpec]:
        return self.inner.specs

    @property
    def ordered(self) -> bool:
        return self.inner.ordered

    async def call(self, call: ToolCall) -> ToolResult:
        return await self.inner.call(call)
