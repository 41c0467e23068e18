"""How much of the target of a question the tool results have shown (docs/training.md, Rewards of steps)."""

from collections.abc import Iterator
from contextlib import suppress
from statistics import fmean
from typing import TYPE_CHECKING

from graphwalk.evaluation.rows import row_set
from graphwalk.evaluation.values import normalise
from graphwalk.suites.graph_prompts import QUERY_TOOLS
from graphwalk.suites.questions.catalogue import python_part
from graphwalk.suites.questions.scoring.groundedness import HiddenError, ObservedIndex, supported_rows
from graphwalk.tools.observed import observed_graph
from graphwalk.tools.observed_values import found_values, shows_data
from graphwalk.types.episode import Trajectory
from graphwalk.types.values import Row

if TYPE_CHECKING:
    from graphwalk.suites.questions.task import QuestionTask


def shown_share(task: "QuestionTask", trajectory: Trajectory) -> float | None:
    """Return the mean over the rows of the target, or that of the best row if one is enough.

    A row that the results prove counts whole, another as the mean of its facts: each value that is not computed is in
    a result whose call does not name it; each computed number is found in the observed part of the graph, in
    proportion; the proof is missing. None if the question has no evaluator, or a
    result is that of a query of the model, which may contain anything.
    """
    part = python_part(task.template) if task.oracles == 2 else None
    queried = any(shows_data(result) and result.call.name in QUERY_TOOLS for result in trajectory.results)
    if part is None or not task.target or queried:
        return None
    proven = supported_rows(task, trajectory, task.target) or frozenset()
    is_found = found_values(trajectory.results)
    plain = [field for field in task.scored_fields if field not in task.computed_fields]
    observed_rows: list[Row] = []
    if computed := task.computed_fields.intersection(task.scored_fields):
        with suppress(HiddenError):
            observed_rows = list(part(**task.parameters).rows(ObservedIndex(observed_graph(trajectory.results))))

    def facts(row: Row) -> Iterator[float]:
        if row_set([row], task.scored_fields) <= proven:
            yield 1.0
            return
        yield from (float(is_found(row[field])) for field in plain if row.get(field) is not None)
        same = [
            other for other in observed_rows if all(normalise(other.get(f)) == normalise(row.get(f)) for f in plain)
        ]
        for field in computed:
            yield max((_share(other.get(field), row[field]) for other in same), default=0.0)
        yield 0.0

    shares = [fmean(facts(row)) for row in task.target]
    return fmean(shares) if task.mode == "set" else max(shares)


def _share(observed: object, number: object) -> float:
    """Return an observed number as a share of the right one, 0 beyond it."""
    are_numbers = isinstance(observed, int | float) and isinstance(number, int | float)
    return float(observed / number) if are_numbers and number and 0 < observed <= number else 0.0  # type: ignore[operator]
