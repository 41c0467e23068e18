"""The tools of one episode: what the model is told about them, and what a call gives back."""

from collections.abc import Sequence
from typing import Protocol

from graphwalk.types.chat import ToolCall, ToolSpec
from graphwalk.types.episode import ToolResult


class Toolbox(Protocol):
    """Tools over one graph. No call ever raises to the model: a mistake is a text in the result, and is counted.

    StoreError passes through: the database failed, not the model.
    """

    @property
    def specs(self) -> Sequence[ToolSpec]:
        """What the model is told."""
        ...

    @property
    def ordered(self) -> bool:
        """True where calls change what later calls return, so that calls of one turn run one after the other."""
        ...

    async def call(self, call: ToolCall) -> ToolResult:
        """Run one call."""
        ...
