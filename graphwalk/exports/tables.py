"""Runs as two tables: one row an episode, one row a call."""

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

from graphwalk.exports.episodes import Episodes
from graphwalk.runlog.flat import flat_record
from graphwalk.runlog.result import Result
from graphwalk.types.episode import Score

FlatRow: TypeAlias = dict[str, Any]

TABLES = ("episodes", "calls")
_OF_CALL = (
    *("task_id", "model", "setting", "repeat", "turn", "call", "tool", "arguments", "error", "rows", "seconds"),
    "result",
)
_LARGEST = 2**63


def rows_of(result: Result, score_type: type[Score]) -> Mapping[str, list[FlatRow]]:
    """The rows of an episode in each table; `turn` and `call` count from 1, `arguments` is what the model wrote."""
    calls = [
        dict(zip(_OF_CALL, (*result.key, turn, place, *_call(found)), strict=True))
        for turn, replied in enumerate(result.trajectory.turns, 1)
        for place, found in enumerate(replied.results, 1)
    ]
    return {"episodes": [flat_record(result, score_type)], "calls": calls}


def _call(found: Any) -> tuple[Any, ...]:
    return (found.call.name, found.call.arguments, found.error, found.rows, found.seconds, found.content)


def columns_of(episodes: Episodes) -> dict[str, dict[str, type]]:
    """Name and type of each column of each table: bool, int, float, or str for other values and for several types.

    Reads all episodes, since a column may begin anywhere.
    """
    found: dict[str, dict[str, type | None]] = {"episodes": {}, "calls": dict.fromkeys(_OF_CALL)}
    for result in episodes.quiet:
        for table, rows in rows_of(result, episodes.suite.score_type).items():
            for row in rows:
                for name, value in row.items():
                    found[table][name] = _joined(found[table].get(name), value)
    return {table: {name: kind or str for name, kind in kinds.items()} for table, kinds in found.items()}


def _joined(kind: type | None, value: Any) -> type | None:
    if value is None:
        return kind
    own = type(value) if isinstance(value, bool | int | float) else str
    if own is int and not -_LARGEST <= value < _LARGEST:
        own = str
    if kind is None or kind is own:
        return own
    return float if {kind, own} == {int, float} else str


def cell(value: Any) -> Any:
    """A value of one cell: lists and maps as JSON."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value
