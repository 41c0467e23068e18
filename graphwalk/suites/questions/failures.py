"""Failure analysis: why an answer to a question is wrong, given the whole graph (docs/method.md, Failure analysis)."""

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from statistics import fmean
from typing import Any, get_args

from graphwalk.evaluation.evidence import Evidence, call_signature
from graphwalk.evaluation.extraction import strip_thinking
from graphwalk.evaluation.rows import missing_fields, row_set, typed_rows
from graphwalk.evaluation.values import normalise, parse_object, value_forms
from graphwalk.models.scripted import Ask
from graphwalk.suites.questions.catalogue import python_part
from graphwalk.suites.questions.score import Cause, Divergence, names_target
from graphwalk.suites.questions.scripted import plan_of
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.questions.variants import ANSWER, START, GraphViews, Variant, parameters_with, variants
from graphwalk.suites.questions.walker import Page
from graphwalk.tools.observed import NEIGHBORS, ObservedGraph, rows_of, schema_pairs
from graphwalk.types.episode import ToolResult, Trajectory
from graphwalk.types.values import Row

CAUSES: tuple[Cause, ...] = get_args(Cause)
CONDITIONS = ("negation", "direction", "hops", "label", "type", "property", "value")
"""Conditions that a variant may ignore or change; a question may define further ones."""
_JSON_BEGUN = re.compile(r'\[\s*\{|\{\s*"|\[\s*"')
_MOST_COMBINATIONS = 1000
"""Rows that a row may mean if it names nodes by a property that several have."""
_UNKNOWN = ("unknown_name", "unknown_tool")
"""Errors of calls that name nothing of the graph."""
QUERY = "run_cypher"
_FEWEST_STALE = 3
"""Calls of the second half without news, from which on an episode may be fixated."""
_MOST_CALLS = 20_000
"""Calls of the expert that are followed to find the first unexplored node."""
RowSet = frozenset[tuple[Hashable, ...]]


@dataclass(frozen=True)
class Failure:
    """The cause of a wrong answer, with a sentence about it; the fields are those of `QuestionScore`.

    `ignored_condition`: the condition of the question that was ignored or changed. `diverged_at`: number of the first
    tool call, from 1, that no valid walk contains; `diverged_by`: the reason. `unexplored`: key of the first node on
    the expert's way that the tool results do not show, if target rows are missing.
    """

    failure: Cause
    failure_detail: str
    ignored_condition: str | None = None
    diverged_at: int | None = None
    diverged_by: Divergence | None = None
    unexplored: str | None = None


def failure_of(
    task: QuestionTask, setting: str, trajectory: Trajectory, rows: Sequence[Row] | None, views: GraphViews
) -> Failure:
    """Return the cause of a wrong answer; `rows` are the extracted ones, None if there were none."""
    return _WrongAnswer(task, setting, trajectory, rows, views).failure()


class _WrongAnswer:
    """A wrong answer, compared with the target, and the walk that led to it."""

    def __init__(
        self, task: QuestionTask, setting: str, trajectory: Trajectory, rows: Sequence[Row] | None, views: GraphViews
    ) -> None:
        self._task, self._trajectory, self._rows, self._views = task, trajectory, rows, views
        self._target = row_set(task.gold, task.scored_fields)
        answered = self._answered = row_set(typed_rows(rows or [], task.gold, task.scored_fields), task.scored_fields)
        self._extra, self._missing = answered - self._target, self._target - answered
        places = range(len(task.scored_fields))
        self._computed = [place for place in places if task.scored_fields[place] in task.computed_fields]
        self._keys = [place for place in places if all(row[place] in views.keys for row in self._target)]
        """Positions of the fields with computed numbers, and of those with keys of nodes in every row of the target."""
        self._walk = None if setting == "no_tools" else _Walk(task, trajectory, views)
        self._of_tools = setting == "tools"
        enough = task.mode != "set" and bool(self._target & answered)
        self._unexplored = (
            self._walk.unexplored() if self._walk and self._of_tools and self._missing and not enough else None
        )

    def failure(self) -> Failure:
        """Return the first cause that fits, with the divergence of the walk."""
        failure = self._form() or self._walked() or (self._of_rows() if self._answered else self._silence())
        if self._walk is None or not self._of_tools:
            return failure
        number, reason = self._walk.diverged or (None, None)
        return replace(failure, diverged_at=number, diverged_by=reason, unexplored=self._unexplored)

    def _form(self) -> Failure | None:
        """Return a failure if only the form of the reply is wrong."""
        if self._rows and not missing_fields(self._rows, self._task.scored_fields):
            return None
        reply = strip_thinking(self._trajectory.reply)
        if names_target(self._task, reply):
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
        more = self._extra and not (self._counts_only() and self._counted_less())
        if self._walk.is_fixated and self._unexplored is not None and not more:
            return Failure("fixation", "Most calls of the second half show nothing new.")
        return None

    def _silence(self) -> Failure:
        """Return the failure of an episode without a row in the answer."""
        results = [] if self._walk is None else self._walk.results
        queries = [result for result in results if result.call.name == QUERY]
        if queries and queries[-1].error is None and not queries[-1].rows and self._rows is not None:
            return Failure("missing_rows", "The last query found no rows, and the answer is empty.")
        fault = "contains no answer" if self._rows is None else "is an empty list"
        end = str(self._trajectory.exit_status).replace("_", " ")
        return Failure("gave_up", f"The reply {fault}; the episode ended with: {end}.")

    def _of_rows(self) -> Failure:
        if wrong := self._other_property():
            return wrong
        if invented := next(self._invented(), None):
            return Failure("invented", f"The graph contains no {invented[0]} {invented[1]!r}.")
        too_low = self._counts_only() and self._counted_less()
        variant = None if too_low and self._unexplored else self._variant()
        if variant is not None and variant.condition == START:
            return Failure("wrong_start", f"The rows are those {variant.change}.")
        if variant is not None and variant.condition == ANSWER:
            return Failure("wrong_property", f"The rows are those {variant.change}.")
        if self._counts_only() and variant is None and not (too_low and self._unexplored):
            return Failure("miscounted", f"{self._numbers()}, and no ignored condition explains it.")
        # Of one row of several, or of the highest number, the right one may not have been seen.
        unseen = self._task.mode != "set" and variant is None and self._unexplored is not None
        cause: Cause = "missing_rows" if not self._extra or too_low or unseen else "extra_rows"
        return Failure(cause, self._about(variant), variant and variant.condition)

    def _about(self, variant: Variant | None) -> str:
        numbers = self._numbers()
        if variant is not None:
            return f"{numbers}. The rows are those {variant.change}."
        if self._query_found_target():
            return f"{numbers}. The last query found the target."
        notes = (
            ["No single ignored condition explains the extra rows."] if self._extra and not self._counts_only() else []
        )
        if self._unexplored is not None:
            notes.append(f"The first node on the expert's way that was not explored is {self._unexplored!r}.")
        elif self._of_tools and self._missing and self._walk and self._walk.expert_is_known:
            notes.append("Every node on the expert's way was explored.")
        return " ".join([f"{numbers}.", *notes])

    def _numbers(self) -> str:
        if self._counts_only():
            return "The number is too low" if self._counted_less() else "The number is too high"
        return f"{len(self._extra)} extra and {len(self._missing)} missing of {len(self._target)} target rows"

    def _other_property(self) -> Failure | None:
        """Return a failure if another property of the right nodes was answered in place of their keys."""
        for row in sorted(self._extra, key=str):
            candidates = [
                self._views.keys_with_value(value) if place in self._keys and value not in self._views.keys else [value]
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

    def _query_found_target(self) -> bool:
        queries = [] if self._walk is None else [r for r in self._walk.results if r.call.name == QUERY and r.rows]
        rows = (rows_of(queries[-1]) or []) if queries else []
        return bool(rows) and frozenset(tuple(map(normalise, row.values())) for row in rows) == self._target

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


class _Walk:
    """The calls of one episode, without notes, and the part of the graph that their results show."""

    def __init__(self, task: QuestionTask, trajectory: Trajectory, views: GraphViews) -> None:
        self._task, self._views = task, views
        prompt = "\n".join(message.content or "" for message in trajectory.prompt)
        calls = [pair for pair in enumerate(trajectory.results, 1) if not pair[1].is_note and not pair[1].final]
        self.results = [result for _, result in calls]
        self.observed = ObservedGraph(schema_pairs(prompt))
        self.diverged: tuple[int, Divergence] | None = None
        """Number of the first call that no valid walk contains, from 1 and notes counted, and the reason."""
        self._stale: list[bool] = []
        """Per call: it repeats an earlier one, or shows nodes and nothing new about them."""
        self._named = list(map(str, parameters_with(task, "label", "relationship_type")))
        self._follow(calls, Evidence([prompt]))

    def _follow(self, calls: Sequence[tuple[int, ToolResult]], prompt: Evidence) -> None:
        related = self._related()
        seen: set[Hashable] = set(map(normalise, self._task.parameters.values()))
        signatures: set[Hashable] = set()
        facts = 0
        for number, result in calls:
            signature, arguments = call_signature(result.call), parse_object(result.call.arguments)
            repeated, facts_before = signature in signatures, facts
            signatures.add(signature)
            self.observed.add(result)
            nodes, relationships = self.observed.nodes.values(), self.observed.relationships.values()
            facts = len(relationships) + sum(1 + len(node.properties) for node in nodes)
            shows_nodes = bool(result.rows) and "property_value" in arguments
            self._stale.append(repeated or (shows_nodes and facts == facts_before))
            if self.diverged is not None:
                continue
            if result.error is not None:
                self.diverged = number, "refused"
            elif repeated:
                self.diverged = number, "repeated"
            elif not self._is_related(arguments, related, seen, prompt):
                self.diverged = number, "unrelated"
            seen.update(_scalars(rows_of(result)))
            related |= {label for node in nodes for label in node.labels}
            related |= {relationship.type for relationship in relationships}

    def _related(self) -> set[Any]:
        """Return the labels and types in the question, the ends of such types, and labels within its hops."""
        task = self._task
        pairs = [(s, t.type, o) for t in self._views.schema.relationships for s, o in t.pairs]
        related = set(self._named)
        related |= {end for source, type_, target in pairs if type_ in related for end in (source, target)}
        for _ in range(max(parameters_with(task, "hops"), default=0)):
            related |= {end for source, _, target in pairs if {source, target} & related for end in (source, target)}
        return related

    def _is_related(
        self, arguments: Mapping[str, Any], related: set[Any], seen: set[Hashable], prompt: Evidence
    ) -> bool:
        """Return True unless a call names a label, type or value that nothing before it named."""
        name, value = arguments.get("label", arguments.get("entity_name")), arguments.get("property_value")
        if name is not None and name not in related:
            return False
        forms = set(map(normalise, value_forms(value)))
        return value is None or not forms.isdisjoint(seen) or prompt.holds(value)

    @property
    def is_fixated(self) -> bool:
        """Return True if most calls of the second half repeat earlier ones or show nothing new."""
        second = self._stale[len(self._stale) // 2 :]
        return sum(second) >= _FEWEST_STALE and 2 * sum(second) > len(second)

    def wrong_start(self) -> str | None:
        """Return a phrase if the calls began at another entity than the question's and never came to it, else None."""
        task = self._task
        if not self.results:
            return None
        keys = parameters_with(task, "key")
        if not keys:
            names = self._related()
            results = (result for result in self.results if result.error not in _UNKNOWN)
            right = any(_mentions(result, name) for result in results for name in names)
            # A query without the names of the question ignores them.
            right = right or any(result.call.name == QUERY and result.rows for result in self.results)
            return None if right or not names else f"no call finds {' or '.join(map(repr, self._named))}"
        key = keys[0]
        if any(_mentions(result, key) for result in self.results if result.rows):
            return None
        first = self.results[0]
        label = parse_object(first.call.arguments).get("label")
        towards = [value for value in self._named if value == label]
        begins_elsewhere = bool(towards) and towards[0] != self._named[0] and bool(first.rows)
        return None if begins_elsewhere else f"the first call does not find {key!r}, and no later one does"

    @property
    def expert_is_known(self) -> bool:
        """Return False without an expert's way: own questions, large graphs, and values with several text forms."""
        return python_part(self._task.template) is not None and self._views.small and self._views.tools is not None

    def unexplored(self) -> str | None:
        """Return the first node on the expert's way that the results do not show, or None."""
        task, index = self._task, self._views.index
        if not self.expert_is_known:
            return None
        complete = self.observed.complete_nodes()
        shown = {(r.type, r.source, r.target) for r in self.observed.relationships.values()}

        def is_shown(ask: Ask, key: str) -> bool:
            if ask.tool != NEIGHBORS:
                return key in self.observed.nodes
            around = [(r.type, r.source, r.target) for r in index.outgoing[key]]
            around += [(r.type, r.target, r.source) for r in self._views.backwards.outgoing[key]]
            return key in complete or (bool(around) and shown.issuperset(around))

        calls = _expert_calls(task, self._views)
        return next((key for ask, keys in calls for key in keys if not is_shown(ask, key)), None)


def _expert_calls(task: QuestionTask, views: GraphViews) -> Iterator[tuple[Ask, list[str]]]:
    """Yield the expert's calls with the keys of the nodes that they look up, in order."""
    index, tools = views.index, views.tools
    assert tools is not None, "`expert_is_known`"
    plan = plan_of(task.template, task.parameters, views.schema)
    results: Any = None
    calls = 0
    while calls < _MOST_CALLS:
        try:
            asks = plan.send(results)
        except StopIteration:
            return
        calls += len(asks)
        results = []
        for ask in asks:
            arguments: Any = ask.arguments
            if "property_value" in arguments:
                label, name, value = (arguments[part] for part in ("label", "property_name", "property_value"))
                yield ask, sorted(index.keys_with(label, name, value))
            answer = tools.answer(ask.tool, arguments)
            results.append(Page(answer.rows if answer else []))


def _mentions(result: ToolResult, name: Any) -> bool:
    return Evidence([result.call.arguments]).holds(name)


def _scalars(value: Any) -> Iterator[Hashable]:
    """Yield the normalised values in rows."""
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _scalars(part)
    elif value is not None:
        yield normalise(value)
