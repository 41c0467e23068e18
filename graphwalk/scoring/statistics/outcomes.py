"""What a player reached, task by task: repeats averaged, and the graph of every task known."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Table = NDArray[np.float64]
Numbers = NDArray[np.int64]
_Name = TypeVar("_Name", bound=Hashable)


@dataclass(frozen=True)
class Outcomes:
    """One row per task, one column per measure.

    `values`, shape (tasks, measures): the mean of the task's repeats, NaN where none is known. `graphs`, shape
    (tasks,): a number for the graph of each task. `keys`: (graph, task) as they were given. `episodes`, shape
    (measures,): known values before averaging. `noise`, shape (measures,): variance of the repeats of one task,
    averaged over the tasks that have at least two; NaN where none has.
    """

    values: Table
    graphs: Numbers
    keys: tuple[tuple[Hashable, Hashable], ...]
    episodes: Numbers
    noise: Table


def outcomes_of(values: ArrayLike, graphs: Sequence[Hashable], tasks: Sequence[Hashable] | None = None) -> Outcomes:
    """The outcomes of a player from its episodes.

    `values`, shape (episodes,) or (episodes, measures); NaN is unknown. `graphs` and `tasks` name the graph and the
    task of each episode; without `tasks`, every episode is a task of its own.

    Repeats are averaged first, so that a task counts once however many of its episodes are known. With equally many
    repeats this equals summing all episodes by graph, since a task lies in one graph. Raises ValueError where the
    lengths differ.
    """
    table = np.asarray(values, dtype=np.float64)
    table = table[:, None] if table.ndim == 1 else table
    named = list(zip(graphs, range(len(graphs)) if tasks is None else tasks, strict=True))
    if len(named) != len(table):
        raise ValueError(f"{len(table)} rows of values, but {len(named)} graphs")
    rows, keys = numbered(named)
    of_graphs, _ = numbered(graph for graph, _ in keys)
    known = ~np.isnan(table)
    if len(keys) == len(table):
        return Outcomes(table, of_graphs, tuple(keys), known.sum(axis=0), np.full(table.shape[1], np.nan))
    filled = np.where(known, table, 0.0)
    counts, sums, squares = (sums_by(rows, part, len(keys)) for part in (known.astype(np.float64), filled, filled**2))
    with np.errstate(invalid="ignore", divide="ignore"):
        means = sums / counts
        within = np.where(counts > 1, np.maximum(squares - sums * means, 0) / (counts - 1), 0.0)
        noise = within.sum(axis=0) / (counts > 1).sum(axis=0)
    return Outcomes(means, of_graphs, tuple(keys), known.sum(axis=0), noise)


def numbered(names: Iterable[_Name]) -> tuple[Numbers, list[_Name]]:
    """A number for each name, counted from 0 in order of appearance, and the names by number."""
    number_of: dict[_Name, int] = {}
    numbers = np.array([number_of.setdefault(name, len(number_of)) for name in names], dtype=np.int64)
    return numbers, list(number_of)


def sums_by(numbers: Numbers, table: Table, size: int) -> Table:
    """Sums of the rows of `table` that have the same number, shape (size, columns)."""
    sums = np.zeros((size, table.shape[1]))
    if len(numbers):
        order = np.argsort(numbers, kind="stable")
        ordered = numbers[order]
        starts = np.flatnonzero(np.diff(ordered, prepend=-1))
        sums[ordered[starts]] = np.add.reduceat(table[order], starts, axis=0)
    return sums
