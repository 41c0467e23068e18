"""What is written by the million, before anything of it is made."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

Row = Mapping[str, Any]


class Job(NamedTuple):
    """What one part of a file is made from; it travels to another process. `things`: how many of them it makes."""

    what: Any
    things: int


@dataclass(frozen=True)
class Rows:
    """Rows that are made job by job, each in any process: the same jobs and rows whatever is left of an earlier try."""

    name: str
    """The things that are made, as progress calls them: "mazes"."""
    of: Callable[[Any], Iterable[Row]]
    """The rows of one job, from its `what`: a function of a module, or a partial of one, so that it can travel."""
    jobs: Callable[[], Iterable[Job]]
    """In the order of the file; made as they are needed, so that they are never in memory together."""
    columns: Mapping[str, type]
    """Of every row, in order: bool, int, float, str; list or dict, which Parquet holds as JSON text."""
    about: Mapping[str, Any]
    """All that the rows depend on, as JSON: what was begun with another one is not gone on with."""
    total: int
    """Things in all."""


def in_ranges(first: int, count: int, size: int) -> Iterator[Job]:
    """Jobs of `size` things each: (first, behind the last) as `what`."""
    for start in range(first, first + count, size):
        end = min(start + size, first + count)
        yield Job((start, end), end - start)
