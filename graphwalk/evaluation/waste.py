"""Calls that gained nothing: repetitions, cycles, results that were never used (docs/method.md, Scores)."""

import json
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from graphwalk.evaluation.evidence import Evidence, data_of, shows_data
from graphwalk.evaluation.values import parse_json
from graphwalk.types.chat import ToolCall
from graphwalk.types.episode import Trajectory, Turn

_LONGEST_CYCLE = 16


@dataclass(frozen=True, slots=True)
class Waste:
    """Counters of one trajectory, in calls unless said otherwise.

    `cycles`: times that a block of 2 to 16 calls, not all equal, was run again at once. `unused_results`: results with
    data of which no value that was new at the time is named again, in a later call, text or thought; counting without
    naming is a use that this cannot see, so it is an upper bound. `parallel_calls`: calls that shared a turn.
    """

    repeated_calls: int
    cycles: int
    unused_results: int
    tool_errors: int
    think_calls: int
    parallel_calls: int


def waste_of(trajectory: Trajectory) -> Waste:
    results = trajectory.results
    signatures = [_signature(result.call) for result in results]
    sizes = [len(turn.results) for turn in trajectory.turns]
    return Waste(
        repeated_calls=len(signatures) - len(set(signatures)),
        cycles=count_cycles(signatures),
        unused_results=_unused_results(trajectory),
        tool_errors=sum(result.error is not None for result in results),
        think_calls=sum(result.is_note for result in results),
        parallel_calls=sum(size for size in sizes if size > 1),
    )


def count_cycles(calls: Sequence[Hashable]) -> int:
    """Blocks that repeat the block before them: A B A B A B has two. Linear in the number of calls."""
    cycles, position = 0, 0
    while position < len(calls):
        length = _cycle_at(calls, position)
        cycles += length > 0
        position += length or 1
    return cycles


def _cycle_at(calls: Sequence[Hashable], position: int) -> int:
    """Length of the shortest block beginning here that repeats the one before it, 0 if there is none."""
    for length in range(2, min(_LONGEST_CYCLE, position, len(calls) - position) + 1):
        block = calls[position : position + length]
        if block == calls[position - length : position] and any(call != block[0] for call in block):
            return length
    return 0


def _signature(call: ToolCall) -> tuple[str, str]:
    """Name and arguments; spaces and the order of arguments make no difference."""
    arguments = parse_json(call.arguments)
    return call.name, call.arguments if arguments is None else json.dumps(arguments, sort_keys=True)


def _unused_results(trajectory: Trajectory) -> int:
    """Read forwards for what is new in each result, and backwards for what is said later."""
    later: set[Hashable] = set()
    unused = 0
    for turn, news in zip(reversed(trajectory.turns), reversed(_new_values(trajectory)), strict=True):
        unused += sum(later.isdisjoint(new) for new in news if new)
        later |= _said(turn)
    return unused


def _new_values(trajectory: Trajectory) -> list[list[frozenset[Hashable]]]:
    """Per turn and result, the words that neither prompt, model nor earlier results had."""
    known = set[Hashable]().union(*(_told(message.content or "") for message in trajectory.prompt))
    news: list[list[frozenset[Hashable]]] = []
    for turn in trajectory.turns:
        known |= _said(turn)
        news.append([])
        for result in filter(shows_data, turn.results):
            new = Evidence([data_of(result)]).tokens - known
            news[-1].append(new)
            known |= new
    return news


@lru_cache(maxsize=16)
def _told(text: str) -> frozenset[Hashable]:
    """Remembered: all episodes about a graph are told the same of it."""
    return Evidence([text]).tokens


def _said(turn: Turn) -> frozenset[Hashable]:
    """What the model wrote in a turn: text, reasoning, arguments."""
    texts = [turn.message.content or "", turn.message.reasoning or ""]
    return Evidence([*texts, *(call.arguments for call in turn.message.tool_calls)]).tokens
