"""The tools of one episode: their descriptions, and the results of calls."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from graphwalk.types.chat import ToolCall, ToolSpec
from graphwalk.types.episode import ToolResult


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

    turn = 0
    """The model's turn whose calls are made, from 1 on; 0 where turns are not counted."""
    listed_once = False
    """The descriptions are read once for all turns."""

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

    def narrowed(self, answer: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the JSON schema of the answer, narrowed to what the results so far allow."""
        return narrowed(self.inner, answer)


def begin_turn(toolbox: Toolbox | None, number: int) -> None:
    """Tell the wrappers which turn of the model makes the next calls."""
    while isinstance(toolbox, ToolboxWrapper):
        toolbox.turn = number
        toolbox = toolbox.inner


def list_once(toolbox: Toolbox | None) -> None:
    """Tell the wrappers that a harness reads the descriptions once for all turns."""
    while isinstance(toolbox, ToolboxWrapper):
        toolbox.listed_once = True
        toolbox = toolbox.inner


def narrowed(toolbox: Toolbox | None, answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the JSON schema of the answer at this point of the episode."""
    return toolbox.narrowed(answer) if isinstance(toolbox, ToolboxWrapper) else answer
