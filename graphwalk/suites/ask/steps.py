"""The steps of an episode as plain data: every call, and what came of it."""

from dataclasses import dataclass
from typing import Any

from graphwalk.models.text_calls import find_calls
from graphwalk.scoring.values import parse_json
from graphwalk.types.episode import ToolResult, Trajectory


@dataclass(frozen=True)
class Step:
    """One tool call. `arguments` is what the model wrote, read as JSON where it is JSON.

    `rows`: those found, None for notes and mistakes. `error`: the class of mistake. `thought`: what the model wrote
    beside the call (without the call, where that is written as text), or noted down with it.
    """

    call: str
    arguments: Any
    rows: int | None
    error: str | None
    seconds: float
    result: str
    thought: str | None = None

    def as_dict(self) -> dict[str, Any]:
        return {
            "call": self.call,
            "arguments": self.arguments,
            "rows": self.rows,
            "error": self.error,
            "seconds": round(self.seconds, 6),
            "thought": self.thought,
        }


def step_of(result: ToolResult, beside: str | None = None) -> Step:
    arguments = parse_json(result.call.arguments)
    noted = result.content if result.is_note else None
    known = {result.call.name: arguments if isinstance(arguments, dict) else ()}
    written = find_calls(beside or "", known, lenient=True).rest.strip()
    return Step(
        call=result.call.name,
        arguments=result.call.arguments if arguments is None else arguments,
        rows=result.rows,
        error=result.error,
        seconds=result.seconds,
        result=result.content,
        thought=written or noted,
    )


def steps_of(trajectory: Trajectory) -> list[Step]:
    """All calls in order; text beside several calls goes with the first of them."""
    return [
        step_of(result, turn.message.content if number == 0 else None)
        for turn in trajectory.turns
        for number, result in enumerate(turn.results)
    ]
