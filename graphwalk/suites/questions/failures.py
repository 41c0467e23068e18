"""Failure analysis: why an answer to a question is wrong, given the whole graph (docs/method.md, Failure analysis)."""

import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from graphwalk.encodings import read_rows
from graphwalk.evaluation.evidence import Evidence, holds_row
from graphwalk.evaluation.extraction import strip_thinking
from graphwalk.evaluation.rows import missing_fields, row_set, typed_rows
from graphwalk.evaluation.values import normalise
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.questions.variants import GraphViews, Variant, is_output, variants
from graphwalk.suites.questions.walks import Divergence, Walk
from graphwalk.types.episode import Trajectory
from graphwalk.types.values import Row

Cause = Literal[
    "wrong_form",
    "wrong_start",
    "fixation",
    "gave_up",
    "wrong_property",
    "invented",
    "miscounted",
    "extra_rows",
    "missing_rows",
]
CAUSES: tuple[Cause, ...] = get_args(Cause)
CONDITIONS = ("negation", "direction", "hops", "label", "type", "property", "value")
"""Conditions that a variant may ignore or change; a question may define further ones."""
_JSON_BEGUN = re.compile(r'\[\s*\{|\{\s*"|\[\s*"')
RowSet = frozenset[tuple[Hashable, ...]]


@dataclass(frozen=True)
class Failure:
    """The cause of a wrong answer, with a sentence about it.

    `condition`: the condition of the question that was ignored or changed. `diverged_at`: number of the first tool call,
    from 1, that no valid walk contains; `diverged_by`: the reason. `unexplored`: key of the first node on the expert's
    way that the tool results do not show, if target rows are missing.
    """

    cause: Cause
    detail: str
    condition: str | None = None
    diverged_at: int | None = None
    diverged_by: Divergence | None = None
    unexplored: str | None = None


def failure_of(
    task: QuestionTask, setting: str, trajectory: Trajectory, rows: Sequence[Row] | None, views: GraphViews
) -> Failure:
    """Return the cause of a wrong answer; `rows` are the extracted ones, None if there were none."""
    given = typed_rows(rows or [], task.gold, task.scored_fields)
    walk = None if setting == "no_tools" else Walk(task, trajectory, views)
    asked = _Asked(task, trajectory, rows, row_set(given, task.scored_fields), walk, views)
    failure = asked.failure()
    if walk is None or setting != "tools":
        return failure
    if walk.diverged is not None:
        failure = replace(failure, diverged_at=walk.diverged[0], diverged_by=walk.diverged[1])
    return replace(failure, unexplored=asked.unexplored)


class _Asked:
    """A question with a wrong answer to it."""

    def __init__(
        self,
        task: QuestionTask,
        trajectory: Trajectory,
        rows: Sequence[Row] | None,
        given: RowSet,
        walk: Walk | None,
        views: GraphViews,
    ) -> None:
        self._task, self._trajectory, self._rows, self._walk, self._views = task, trajectory, rows, walk, views
        self._target = row_set(task.gold, task.scored_fields)
        self._given, self._extra, self._missing = given, given - self._target, self._target - given
        self.unexplored: str | None = None
        if walk is not None and self._missing and not (self._target & given and task.mode != "set"):
            self.unexplored = walk.unexplored()

    def failure(self) -> Failure:
        """Return the first cause that fits."""
        return self._form() or self._walked() or (self._of_rows() if self._given else self._silence())

    def _form(self) -> Failure | None:
        """Return a failure if only the form of the reply is wrong."""
        task, reply = self._task, strip_thinking(self._trajectory.reply)
        if self._rows and not missing_fields(self._rows, task.scored_fields):
            return None
        evidence = Evidence([reply])
        named = [holds_row(row, task.scored_fields, evidence) for row in task.gold]
        if any(named) if task.mode != "set" else all(named):
            return Failure("wrong_form", "The reply contains the target, but not in the requested form.")
        if self._rows is None and _JSON_BEGUN.search(reply):
            return Failure("wrong_form", "The reply begins an answer in JSON that cannot be read.")
        return None

    def _walked(self) -> Failure | None:
        """Return a failure of the walk itself: a wrong start, or the same region again and again."""
        if self._walk is None:
            return None
        if (wrong := self._walk.wrong_start()) is not None:
            return Failure("wrong_start", f"Wrong entry point: {wrong}.")
        if self._walk.is_fixated and self.unexplored is not None and not self._extra:
            return Failure("fixation", "Most calls of the second half show nothing new.")
        return None

    def _silence(self) -> Failure:
        """Return the failure of an episode without a row in the answer."""
        results = [] if self._walk is None else self._walk.results
        queries = [result for result in results if result.call.name == "run_cypher"]
        if queries and queries[-1].error is None and not queries[-1].rows and self._rows is not None:
            return Failure("missing_rows", "The last query found no rows, and the answer is empty.")
        end = str(self._trajectory.exit_status).replace("_", " ")
        found = "an empty list" if self._rows is not None else "no readable answer"
        return Failure("gave_up", f"The episode ended with {found} ({end}).")

    def _of_rows(self) -> Failure:
        if wrong := self._other_property():
            return wrong
        if invented := next(self._invented(), None):
            return Failure("invented", f"The graph contains no {invented[0]} {invented[1]!r}.")
        variant = self._variant()
        if variant is not None and variant.condition == "key":
            return Failure("wrong_start", f"The rows are those {variant.change}.", "key")
        if variant is not None and is_output(self._task, variant):
            return Failure("wrong_property", f"The rows are those {variant.change}.")
        if self._counts_only() and not (variant or self.unexplored):
            return Failure("miscounted", f"{self._numbers()}, and no ignored condition explains it.")
        fewer = not self._extra or (self._counts_only() and self._counted_less())
        cause: Cause = "missing_rows" if fewer else "extra_rows"
        return Failure(cause, self._about(variant), variant and variant.condition)

    def _about(self, variant: Variant | None) -> str:
        numbers = self._numbers()
        if variant is not None:
            return f"{numbers}. The rows are those {variant.change}."
        if self._query_found_target():
            return f"{numbers}. The last query found the target."
        if self._extra and not self._counts_only():
            return f"{numbers}. No single ignored condition explains the extra rows."
        if self._walk is None or not self._walk.results:
            return f"{numbers}."
        if self.unexplored is not None:
            return f"{numbers}. The first node on the expert's way that was not explored is {self.unexplored!r}."
        return f"{numbers}, although every node on the expert's way was explored."

    def _numbers(self) -> str:
        if self._counts_only():
            return "The number is too low" if self._counted_less() else "The number is too high"
        return f"{len(self._extra)} extra and {len(self._missing)} missing of {len(self._target)} target rows"

    def _other_property(self) -> Failure | None:
        """Return a failure if another property of the right nodes was answered in place of their keys."""
        for place in self._key_places():
            for row in self._extra:
                for key in self._views.keys_with_value(row[place]) if row[place] not in self._views.keys else ():
                    if (*row[:place], key, *row[place + 1 :]) in self._target:
                        return Failure("wrong_property", f"{row[place]!r} is a property of {key!r}, not its key.")
        return None

    def _invented(self) -> Iterator[tuple[str, Hashable]]:
        """Yield the kind and the text of each value of the extra rows that the graph does not contain."""
        keys, computed = self._key_places(), self._task.computed_fields
        for row in sorted(self._extra, key=str):
            for place, field in enumerate(self._task.scored_fields):
                value = row[place]
                if field in computed or value is None:
                    continue
                if place in keys and value not in self._views.keys:
                    yield "key", value
                elif place not in keys and value not in self._views.values and value not in self._views.keys:
                    yield "value", value

    def _key_places(self) -> list[int]:
        """Return the positions of the fields that contain keys of nodes in every row of the target."""
        places = range(len(self._task.scored_fields))
        return [place for place in places if all(row[place] in self._views.keys for row in self._target)]

    def _variant(self) -> Variant | None:
        """Return the variant with the fewest rows that contains all extra rows; without these, the answer exactly."""
        best: tuple[tuple[bool, int], Variant] | None = None
        for variant in variants(self._task, self._views):
            rows = row_set(variant.rows, self._task.scored_fields)
            if not (self._extra <= rows if self._extra else self._given == rows):
                continue
            if variant.condition == "key" and self._given != rows:
                continue
            rank = self._given != rows, len(rows)
            if best is None or rank < best[0]:
                best = rank, variant
        return best and best[1]

    def _query_found_target(self) -> bool:
        queries = (
            [] if self._walk is None else [r for r in self._walk.results if r.call.name == "run_cypher" and r.rows]
        )
        rows = (read_rows(queries[-1].content) or []) if queries else []
        return bool(rows) and frozenset(tuple(map(normalise, row.values())) for row in rows) == self._target

    def _counts_only(self) -> bool:
        """Return True if the extra rows differ from rows of the target in computed numbers only."""
        computed = self._task.computed_fields
        kept = [place for place, field in enumerate(self._task.scored_fields) if field not in computed]
        target = {tuple(row[place] for place in kept) for row in self._target}
        return bool(computed and self._extra) and all(
            tuple(row[place] for place in kept) in target for row in self._extra
        )

    def _counted_less(self) -> bool:
        numbers = [place for place, field in enumerate(self._task.scored_fields) if field in self._task.computed_fields]
        return _sum(self._extra, numbers) < _sum(self._target, numbers)


def _sum(rows: RowSet, places: Sequence[int]) -> float:
    """Return the mean of the numbers at these places."""
    found: list[Any] = [row[place] for row in rows for place in places if isinstance(row[place], int | float)]
    return sum(found) / len(found) if found else 0.0
