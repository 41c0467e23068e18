"""Which of several answers of one shape counts (the rules are those of `extraction`)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Reading:
    """An answer at text[start:end]. `stated`: it stands by itself, and not between the words of a sentence."""

    answer: Any
    stage: str | None
    start: int
    end: int
    stated: bool = True
    lossy: bool = False


def choose(readings: Sequence[Reading], *, asked: bool) -> Reading:
    """Return the reading that counts, of at least one. `asked`: all have the form that was asked for.

    It is lossy where another reading holds something else: a draft cannot be told from a part of the answer, or from
    what the answer leaves out. Of the form asked for, a reading within a sentence after the answer is an explanation.
    """
    contents = {id(reading): items_of(reading.answer) for reading in readings}
    eligible = [reading for reading in readings if reading.stated] or list(readings)
    held, parts = eligible[0], list[Reading]()
    for reading in eligible[1:]:
        if contents[id(reading)] < contents[id(held)]:
            parts.append(reading)
        else:
            held, parts = reading, []
    if parts and held.stated and not _are_pieces(parts, contents):
        held = parts[-1]
    compared = [r for r in readings if r.stated or r.start < held.start or not (asked and held.stated)]
    lost = any(not contents[id(reading)] <= contents[id(held)] for reading in compared)
    return replace(held, lossy=held.lossy or lost)


def items_of(answer: Any) -> frozenset[str]:
    """What an answer names, in a form that can be compared."""
    items = answer if isinstance(answer, list) else [answer]
    return frozenset(json.dumps(item, sort_keys=True, default=repr) for item in items)


def _are_pieces(parts: Sequence[Reading], contents: dict[int, frozenset[str]]) -> bool:
    """True for several that have nothing in common."""
    seen: set[str] = set()
    for part in parts:
        if seen & contents[id(part)]:
            return False
        seen |= contents[id(part)]
    return len(parts) > 1
