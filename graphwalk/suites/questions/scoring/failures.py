"""Failure analysis: why an answer to a question is wrong, given the whole graph (docs/method.md, Failure analysis)."""

import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from statistics import fmean
from typing import TYPE_CHECKING, Any, get_args

from graphwalk.evaluation.extraction import TOO_LONG, strip_thinking, visible_text
from graphwalk.evaluation.replies import find_values
from graphwalk.evaluation.rows import missing_fields, row_set, typed_rows, unknown_fields
from graphwalk.evaluation.values import normalise, parse_object, value_forms
from graphwalk.suites.questions.scoring.altered_questions import (
    ANSWER,
    START,
    GraphViews,
    Variant,
    parameters_with,
    variants,
)
from graphwalk.suites.questions.scoring.score import Cause, QuestionScore, names_target
from graphwalk.tools.observed import ObservedGraph, schema_pairs
from graphwalk.tools.observed_values import Evidence, call_signature
from graphwalk.types.episode import ToolResult, Trajectory
from graphwalk.types.values import Row

if TYPE_CHECKING:
    from graphwalk.suites.questions.task import QuestionTask

CAUSES: tuple[Cause, ...] = get_args(Cause)
QUERY = "run_cypher"
_JSON_BEGUN = re.compile(r'\[\s*\{|\{\s*"|\[\s*"')
_MOST_COMBINATIONS = 1000
"""Rows that a row may mean if it names nodes by a property that several have."""
_UNKNOWN = ("unknown_name", "unknown_tool")
"""Errors of calls that name nothing of the graph."""
_FEWEST_STALE = 3
"""Calls of the second half without news, from which on an episode may be fixated."""
RowSet = frozenset[tuple[Hashable, ...]]


@dataclass(frozen=True)
class Failure:
    """The cause of a wrong answer, with a sentence about it; the fields are those of `QuestionScore`.

    `ignored_condition`: the condition of the question that was ignored or changed.
    """

    failure: Cause
    failure_detail: str
    ignored_condition: str | None = None


class WrongAnswer:
    """A wrong answer, compared with the target, and the calls that led to it.

    `rows` are the extracted ones, None if there were none.
    """

    def __init__(
        self,
        task: "QuestionTask",
        setting: str,
        trajectory: Trajectory,
        rows: Sequence[Row] | None,
        score: QuestionScore,
        views: GraphViews,
    ) -> None:
        self._task, self._trajectory, self._rows, self._views = task, trajectory, rows, views
        self._target = row_set(task.target, task.scored_fields)
        self._answered = row_set(typed_rows(rows or [], task.target, task.scored_fields), task.scored_fields)
        self._extra, self._missing = self._answered - self._target, self._target - self._answered
        places = range(len(task.scored_fields))
        self._computed = [place for place in places if task.scored_fields[place] in task.computed_fields]
        self._keys = [place for place in places if all(row[place] in views.keys for row in self._target)]
        """Positions of the fields with computed numbers, and of those with keys of nodes in every row of the target."""
        calls = () if setting == "no_tools" else trajectory.results
        self._results = [result for result in calls if not result.is_note and not result.final]
        enough = task.mode != "set" and bool(self._target & self._answered)
        self._too_long = score.extraction_stage == TOO_LONG
        self._unseen = bool(self._missing) and not enough and score.evidence_sufficient is False
        """Rows of the target are missing that the tool results do not prove."""
        self._too_low = self._counts_only() and self._counted_less()

    def failure(self) -> Failure:
        """Return the first cause that fits."""
        return self._form() or self._walk() or (self._row_failure() if self._answered else self._silence())

    def _form(self) -> Failure | None:
        """Return a failure if only the form of the reply is wrong."""
        if self._rows and not missing_fields(self._rows, self._task.scored_fields):
            return None
        reply = strip_thinking(self._trajectory.reply)
        if names_target(self._task, reply):
            return Failure("wrong_form", "The reply contains the target, but not in the requested form.")
        if self._rows is None and _JSON_BEGUN.search(reply):
            return Failure("wrong_form", self._unread(reply))
        return None

    def _unread(self, reply: str) -> str:
        """Return why the JSON of a reply is no answer."""
        readings, unreadable = find_values(visible_text(reply))
        if unreadable or not readings:
            return "The reply begins an answer in JSON that cannot be read."
        values = [value.value for value in readings]
        objects = [value for value in values if isinstance(value, dict)]
        objects += [row for value in values if isinstance(value, list) for row in value if isinstance(row, dict)]
        names, fields = unknown_fields(objects, ()), self._task.answer_fields
        if names and not {*names} & {*fields}:
            return f"The reply has {_names(names)}; the question asks for {_names(fields)}."
        return "The reply has JSON, but no list of rows."

    def _walk(self) -> Failure | None:
        """Return a failure of the calls: a wrong start, or the same region again and again."""
        if (wrong := _wrong_start(self._task, self._results, self._views)) is not None:
            return Failure("wrong_start", f"Wrong entry point: {wrong}.")
        if self._unseen and (not self._extra or self._too_low) and _is_fixated(self._results, self._trajectory):
            return Failure("fixation", "Most calls of the second half show nothing new.")
        return None

    def _silence(self) -> Failure:
        """Return the failure of an episode without a row in the answer."""
        queries = [result for result in self._results if result.call.name == QUERY]
        if queries and queries[-1].error is None and not queries[-1].rows and self._rows is not None:
            return Failure("missing_rows", "The last query found no rows, and the answer is empty.")
        fault = "contains no answer" if self._rows is None else "is an empty list"
        fault = "is too long to be read" if self._too_long else fault
        end = str(self._trajectory.exit_status).replace("_", " ")
        return Failure("gave_up", f"The reply {fault}; the episode ended with: {end}.")

    def _row_failure(self) -> Failure:
        if wrong := self._other_property():
            return wrong
        if invented := next(self._invented(), None):
            return Failure("invented", f"The graph contains no {invented[0]} {invented[1]!r}.")
        not_counted = self._too_low and self._unseen
        variant = None if not_counted else self._variant()
        if variant is not None and variant.condition in (START, ANSWER):
            cause: Cause = "wrong_start" if variant.condition == START else "wrong_property"
            return Failure(cause, f"The rows are those {variant.change}.")
        if self._counts_only() and variant is None and not not_counted:
            return Failure("miscounted", f"{self._numbers()}, and no ignored condition explains it.")
        if variant is not None:
            cause = "extra_rows" if self._extra and not self._too_low else "missing_rows"
            return Failure(cause, f"{self._numbers()}. The rows are those {variant.change}.", variant.condition)
        # Of one row of several, or of the highest number, the right one may not have been seen.
        unseen_row = self._task.mode != "set" and self._unseen
        cause = "missing_rows" if not self._extra or self._too_low or unseen_row else "extra_rows"
        note = " The tool results do not prove the target." if self._unseen else ""
        return Failure(cause, f"{self._numbers()}.{note}")

    def _numbers(self) -> str:
        if self._counts_only():
            return "The number is too low" if self._too_low else "The number is too high"
        return f"{len(self._extra)} extra and {len(self._missing)} missing of {len(self._target)} target rows"

    def _other_property(self) -> Failure | None:
        """Return a failure if another property of the right nodes was answered in place of their keys."""
        keys, keys_of = self._views.keys, self._views.keys_by_value
        for row in sorted(self._extra, key=str):
            candidates = [
                keys_of.get(value, ()) if place in self._keys and value not in keys else [value]
                for place, value in enumerate(row)
            ]
            right = next((one for one in islice(product(*candidates), _MOST_COMBINATIONS) if one in self._target), None)
            if right is not None:
                return Failure("wrong_property", f"{row!r} has another property than the key of {right!r}.")
        return None

    def _invented(self) -> Iterator[tuple[str, Hashable]]:
        """Yield the kind and the text of each value of the extra rows that the graph does not contain."""
        for row in sorted(self._extra, key=str):
            for place, value in enumerate(row):
                if place in self._computed or value is None:
                    continue
                if place in self._keys:
                    if value not in self._views.keys:
                        yield "key", value
                elif set(map(normalise, value_forms(value))).isdisjoint(self._views.values | self._views.keys):
                    yield "value", value

    def _variant(self) -> Variant | None:
        """Return the variant with the fewest rows that contains all extra rows; without these, the answer exactly."""
        best: tuple[tuple[bool, bool, int], Variant] | None = None
        for variant in variants(self._task, self._views):
            rows = row_set(variant.rows, self._task.scored_fields)
            if not (self._extra <= rows if self._extra else self._answered == rows):
                continue
            # One row alone follows from many other keys.
            by_chance = variant.condition == START and (self._answered != rows or len(rows) == 1)
            rank = by_chance, self._answered != rows, len(rows)
            if best is None or rank < best[0]:
                best = rank, variant
        return best and best[1]

    def _counts_only(self) -> bool:
        """Return True if the extra rows differ from rows of the target in computed numbers only."""

        def others(rows: RowSet) -> set[tuple[Hashable, ...]]:
            return {tuple(v for place, v in enumerate(row) if place not in self._computed) for row in rows}

        return bool(self._computed and self._extra) and others(self._extra) <= others(self._target)

    def _counted_less(self) -> bool:
        """Return True if the computed numbers of the extra rows are lower than those of the target, on average."""

        def average(rows: RowSet) -> float:
            numbers: list[Any] = [row[place] for row in rows for place in self._computed]
            return fmean([number for number in numbers if isinstance(number, int | float)] or [0.0])

        return average(self._extra) < average(self._target)


def _names(fields: Sequence[str]) -> str:
    return f"the {'fields' if len(fields) > 1 else 'field'} {', '.join(f'`{field}`' for field in fields)}"


def _is_fixated(results: Sequence[ToolResult], trajectory: Trajectory) -> bool:
    """Return True if most calls of the second half repeat an earlier one, or look up nodes and show nothing new."""
    observed = ObservedGraph(schema_pairs("\n".join(message.content or "" for message in trajectory.prompt)))
    signatures: set[Hashable] = set()
    facts = 0
    stale = []
    for result in results:
        signature, facts_before = call_signature(result.call), facts
        observed.add(result)
        facts = len(observed.relationships) + sum(1 + len(node.properties) for node in observed.nodes.values())
        looks_up = bool(result.rows) and "property_value" in parse_object(result.call.arguments)
        stale.append(signature in signatures or (looks_up and facts == facts_before))
        signatures.add(signature)
    second = stale[len(stale) // 2 :]
    return sum(second) >= _FEWEST_STALE and 2 * sum(second) > len(second)


def _wrong_start(task: "QuestionTask", results: Sequence[ToolResult], views: GraphViews) -> str | None:
    """Return a phrase if the calls began at another entity than the question's and never came to it, else None."""
    if not results:
        return None
    names = list(map(str, parameters_with(task, "label", "relationship_type")))
    keys = parameters_with(task, "key")
    if not keys:
        related = _related_names(task, names, views)
        # A query without the names of the question ignores them.
        right = not related or any(result.call.name == QUERY and result.rows for result in results)
        looked_up = [result for result in results if result.error not in _UNKNOWN]
        right = right or any(_mentions(result, name) for result in looked_up for name in related)
        return None if right else f"no call finds {' or '.join(map(repr, names))}"
    starts = re.compile(rf"\bkey\W*(?:IN\W*)?{re.escape(str(keys[0]))}\b")
    if any(
        starts.search(result.call.arguments) for result in results if result.call.name == QUERY and not result.error
    ):
        return None
    if any(_mentions(result, keys[0]) for result in results if result.rows):
        return None
    label = parse_object(results[0].call.arguments).get("label")
    begins_at_other_end = label in names and label != names[0] and bool(results[0].rows)
    return None if begins_at_other_end else f"the first call does not find {keys[0]!r}, and no later one does"


def _related_names(task: "QuestionTask", names: Sequence[str], views: GraphViews) -> set[str]:
    """Return the labels and types of the question, the ends of such types, and labels within its hops."""
    pairs = [(source, t.type, target) for t in views.schema.relationships for source, target in t.pairs]
    related = set(names)
    related |= {end for source, type_, target in pairs if type_ in related for end in (source, target)}
    for _ in range(max(parameters_with(task, "hops"), default=0)):
        related |= {end for source, _, target in pairs if {source, target} & related for end in (source, target)}
    return related


def _mentions(result: ToolResult, name: Any) -> bool:
    return Evidence([result.call.arguments]).holds(name)
