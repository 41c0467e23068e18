"""Mazes in files, JSON Lines or Parquet: a row for each, however many there are."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from graphwalk.bulk.rows import Rows, in_ranges
from graphwalk.suites.mazes.config import MazeSpec
from graphwalk.suites.mazes.generator.maze import generate_maze

_COLUMNS: dict[str, type] = {
    "size": int,
    "walls": list,
    "start": int,
    "goal": int,
    "shortest_path_length": int,
    "seed": int,
    "index": int,
    "generator": str,
    "digest": str,
}
_TOGETHER = 1000
"""Mazes of a part."""


def maze_rows(spec: MazeSpec, seed: int, count: int) -> Rows:
    """So many mazes like `spec`, from its offset on; its own count counts for nothing."""
    return Rows(
        name="mazes",
        of=partial(_mazes, spec, seed),
        jobs=partial(in_ranges, spec.offset, count, _TOGETHER),
        columns=_COLUMNS,
        about={"mazes": spec.model_dump(mode="json", exclude={"count"}), "seed": seed, "count": count},
        total=count,
    )


def _mazes(spec: MazeSpec, seed: int, indexes: tuple[int, int]) -> Iterator[dict[str, Any]]:
    for index in range(*indexes):
        yield generate_maze(spec, seed, index).as_json()
