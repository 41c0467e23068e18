"""Playing against tools without a model or an agent: how par is found."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass

from graphwalk.models.players.policy import Ask, Policy
from graphwalk.toolbox.toolbox import Toolbox
from graphwalk.types.chat import ToolCall
from graphwalk.types.episode import ToolResult


@dataclass(frozen=True, slots=True)
class Played:
    """A player's answer, the turns it took, the answer among them, and its tool calls without notes."""

    answer: str
    turns: int
    calls: int


async def drive(player: Policy, toolbox: Toolbox) -> Played:
    """Let a player play against the tools. StoreError passes through; TypeError for a player that holds a dialogue."""
    turns = calls = 0
    results: list[str] = []
    while True:
        turns += 1
        try:
            asks = player.send(results) if turns > 1 else next(player)
        except StopIteration as end:
            return Played(end.value, turns, calls)
        if isinstance(asks, str):
            raise TypeError("a player that plays against tools yields calls, not text")
        given = await _results(toolbox, asks)
        calls += sum(not result.is_note for result in given)
        results = [result.content for result in given]


async def _results(toolbox: Toolbox, asks: list[Ask]) -> Sequence[ToolResult]:
    calls = [ToolCall(f"call_{n}", ask.tool, _text(ask)) for n, ask in enumerate(asks)]
    if toolbox.ordered:
        return [await toolbox.call(call) for call in calls]
    return await asyncio.gather(*map(toolbox.call, calls))


def _text(ask: Ask) -> str:
    return ask.arguments if isinstance(ask.arguments, str) else json.dumps(ask.arguments, ensure_ascii=False)
