"""The calls of an episode on a known graph: first divergence, fixation, start, first unexplored node."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, Literal

from graphwalk.evaluation.evidence import Evidence, call_signature
from graphwalk.evaluation.values import normalise, parse_object, value_forms
from graphwalk.models.scripted import Ask
from graphwalk.suites.questions.catalogue import python_part
from graphwalk.suites.questions.scripted import plan_of
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.questions.variants import GraphViews, parameters_with
from graphwalk.suites.questions.walker import Page
from graphwalk.tools.observed import NEIGHBORS, ObservedGraph, rows_of, schema_pairs
from graphwalk.types.episode import ToolResult, Trajectory

Divergence = Literal["refused", "repeated", "unrelated"]
_UNKNOWN = ("unknown_name", "unknown_tool")
"""Errors of calls that name nothing of the graph."""
QUERY = "run_cypher"
_FEWEST_STALE = 3
"""Calls of the second half without news, from which on an episode may be fixated."""
_MOST_ASKED = 20_000
"""Calls of the expert that are followed to find the first unexplored node."""


class Walk:
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
        made: set[Hashable] = set()
        known = 0
        for number, result in calls:
            signature, given = call_signature(result.call), parse_object(result.call.arguments)
            repeated, before = signature in made, known
            made.add(signature)
            self.observed.add(result)
            known = self._facts()
            shows_nodes = bool(result.rows) and "property_value" in given
            self._stale.append(repeated or (shows_nodes and known == before))
            if self.diverged is not None:
                continue
            if result.error is not None:
                self.diverged = number, "refused"
            elif repeated:
                self.diverged = number, "repeated"
            elif not self._is_related(given, related, seen, prompt):
                self.diverged = number, "unrelated"
            seen.update(_scalars(rows_of(result)))
            related |= {label for node in self.observed.nodes.values() for label in node.labels}
            related |= {relationship.type for relationship in self.observed.relationships.values()}

    def _facts(self) -> int:
        observed = self.observed
        return len(observed.relationships) + sum(1 + len(node.properties) for node in observed.nodes.values())

    def _related(self) -> set[Any]:
        """Return the labels and types in the question, the ends of such types, and labels within its hops."""
        task = self._task
        pairs = [(s, t.type, o) for t in self._views.schema.relationships for s, o in t.pairs]
        related = set(self._named)
        related |= {end for source, type_, target in pairs if type_ in related for end in (source, target)}
        for _ in range(max(parameters_with(task, "hops"), default=0)):
            related |= {end for source, _, target in pairs if {source, target} & related for end in (source, target)}
        return related

    def _is_related(self, given: Mapping[str, Any], related: set[Any], seen: set[Hashable], prompt: Evidence) -> bool:
        """Return True unless a call names a label, type or value that nothing before it named."""
        name, value = given.get("label", given.get("entity_name")), given.get("property_value")
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
            known = (result for result in self.results if result.error not in _UNKNOWN)
            right = any(_mentions(result, name) for result in known for name in names)
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

        asked = _expert_calls(task, self._views)
        return next((key for ask, keys in asked for key in keys if not is_shown(ask, key)), None)


def _expert_calls(task: QuestionTask, views: GraphViews) -> Iterator[tuple[Ask, list[str]]]:
    """Yield the expert's calls with the keys of the nodes that they look up, in order."""
    index, tools = views.index, views.tools
    assert tools is not None, "`expert_is_known`"
    plan = plan_of(task.template, task.parameters, views.schema)
    results: Any = None
    asked = 0
    while asked < _MOST_ASKED:
        try:
            asks = plan.send(results)
        except StopIteration:
            return
        asked += len(asks)
        results = []
        for ask in asks:
            given: Any = ask.arguments
            if "property_value" in given:
                yield ask, sorted(index.keys_with(given["label"], given["property_name"], given["property_value"]))
            found = tools.answer(ask.tool, given)
            results.append(Page(found.rows if found else []))


def _mentions(result: ToolResult, name: Any) -> bool:
    return Evidence([result.call.arguments]).holds(name)


def _scalars(value: Any) -> Iterator[Hashable]:
    """Yield the normalised values in rows."""
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _scalars(part)
    elif value is not None:
        yield normalise(value)
