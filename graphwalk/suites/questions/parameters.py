"""Drawing the parameters of a question, so that it has an answer on its graph that is not simply everything."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from random import Random
from typing import Any, cast

from graphwalk.console import counted
from graphwalk.errors import ConfigError, StoreError
from graphwalk.stores.base import GraphStore
from graphwalk.suites.questions.catalogue import Question, QuestionKind, count_candidates, instantiate, ways_of
from graphwalk.suites.questions.config import ANY_ROWS, RowBounds
from graphwalk.suites.questions.graph_index import GraphIndex
from graphwalk.suites.questions.oracles import Scratch, cypher_rows
from graphwalk.suites.questions.rows import distinct
from graphwalk.suites.questions.template import QuestionTemplate
from graphwalk.types.graph import PropertyGraph, value_order
from graphwalk.types.values import Row, Temporal, TemporalKind, Value, shown

_WAYS, _WAYS_PER_ENTITY, _SEARCHES = 5_000_000, 40, 4
"""What a question may take to answer grows with the graph; a dense one has far more ways than that."""
_EXACT = 2**53
"""Beyond it, whole numbers are others after they went through a program that has only floating point numbers."""
COMPARED: frozenset[TemporalKind] = frozenset({"date", "local time", "local datetime"})
"""Times that look the same exactly where Cypher's `=` says so. With zones, and for durations, it does not."""
Chosen = dict[str, Value]
Drawn = tuple[Value, ...]
"""The parameters of a question in the template's order."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How long parameters are looked for before a graph is said not to host a question.

    `tries`: choices looked at; `tries_by_query` where every choice takes a query, because the question has no
    evaluator. `ways` (`ways_of`) of one question, and of all that are tried; None: any number. No clock decides: the
    same graph has the same questions on every machine.
    """

    tries: int
    tries_by_query: int
    ways: int | None = None
    ways_in_all: int | None = None


GENERATED = Effort(20_000, 2_000)
"""The presets need a few hundred tries at most."""


def generated_effort(graph: PropertyGraph) -> Effort:
    """For a generated graph of any size: seconds for a question at 10⁴ nodes, a minute at 10⁶."""
    ways = _WAYS + _WAYS_PER_ENTITY * (graph.node_count + graph.relationship_count)
    return replace(GENERATED, ways=ways, ways_in_all=_SEARCHES * ways)


OWN = Effort(2_000, 200, 300_000, 5_000_000)
"""On a graph of any shape and size: some seconds for a question."""


class ParameterSpace:
    """Labels, types, keys, properties and values of a graph, in an order that depends on its content alone.

    The choices of a template's parameters have the numbers 0 … `size` - 1, each one of its own: a label with many
    properties is in more choices than one with few. Nothing is listed; choices are counted through.
    """

    def __init__(self, index: GraphIndex, max_hops: int) -> None:
        self._index = index
        self._max_hops = max_hops
        self._labels = sorted(index.nodes_of)
        self._types = sorted(index.relationships_of)
        self._properties: dict[tuple[str, str], list[str]] = {}
        self._values: dict[tuple[str, str, Value], list[Value]] = {}
        self._counts: dict[tuple[Value, ...], int] = {}
        self._referred: dict[str, list[tuple[str, ...]]] = {}

    def size(self, template: QuestionTemplate) -> int:
        """How many choices of all parameters there are."""
        return self._count(template, {})

    def at(self, template: QuestionTemplate, number: int) -> Chosen:
        """Choice `number`, 0 ≤ number < size."""
        chosen: Chosen = {}
        for name in template.parameters:
            options = self._options(template, name, chosen)
            if name in self._referred_to(template, len(chosen) + 1):
                for option in options:
                    ways = self._count(template, {**chosen, name: option})
                    if number < ways:
                        break
                    number -= ways
            else:
                place, number = divmod(number, self._count(template, {**chosen, name: options[0]}))
                option = options[place]
            chosen[name] = option
        return chosen

    def _count(self, template: QuestionTemplate, chosen: Chosen) -> int:
        """In how many ways the parameters after the chosen ones can be chosen."""
        position = len(chosen)
        if position == len(template.parameters):
            return 1
        key = (template.name, position, *(chosen[name] for name in self._referred_to(template, position)))
        if key not in self._counts:
            name = list(template.parameters)[position]
            options = self._options(template, name, chosen)
            if name in self._referred_to(template, position + 1):
                self._counts[key] = sum(self._count(template, {**chosen, name: option}) for option in options)
            else:
                # Nothing later depends on it, so that one option is enough.
                each = self._count(template, {**chosen, name: options[0]}) if options else 0
                self._counts[key] = len(options) * each
        return self._counts[key]

    def _referred_to(self, template: QuestionTemplate, position: int) -> tuple[str, ...]:
        """Which of the first `position` parameters say what later ones can be."""
        if template.name not in self._referred:
            names = list(template.parameters)
            self._referred[template.name] = [
                tuple(name for name in names[:end] if any(name in _sources(template, later) for later in names[end:]))
                for end in range(len(names) + 1)
            ]
        return self._referred[template.name][position]

    def _options(self, template: QuestionTemplate, name: str, chosen: Mapping[str, Value]) -> Sequence[Value]:
        parameter = template.parameters[name]
        match parameter.role:
            case "label":
                other = chosen.get(parameter.differs_from or "")
                return [label for label in self._labels if label != other]
            case "relationship_type":
                return self._types
            case "key":
                return self._index.keys_of(str(chosen[str(parameter.of)]))
            case "property":
                return self._property_names(*_owner(template, name, chosen))
            case "value":
                return self._property_values(*_owner(template, name, chosen), chosen[str(parameter.of)])
            case "hops":
                return range(min(parameter.at_least, self._max_hops), self._max_hops + 1)

    def _property_names(self, role: str, owner: str) -> list[str]:
        if (role, owner) not in self._properties:
            names = self._index.node_properties if role == "label" else self._index.relationship_properties
            self._properties[role, owner] = names(owner)
        return self._properties[role, owner]

    def _property_values(self, role: str, owner: str, name: Value) -> list[Value]:
        if (role, owner, name) not in self._values:
            found = self._index.values("node" if role == "label" else "relationship", owner, str(name))
            self._values[role, owner, name] = _to_be_asked(value for value in found if value is not None)
        return self._values[role, owner, name]


def _to_be_asked(found: Iterable[Value]) -> list[Value]:
    """The values that a question can name, each once, in order: those that JSON has, and dates and times as shown.

    Of 1 and 1.0 it names the whole number, whichever the graph has first. Of two values that are shown alike (a date,
    and text that looks like one) neither can be named.
    """
    distinct = {value_order(value): value for value in sorted(found, key=lambda value: type(value).__name__)}
    looks = Counter(map(_look, distinct.values()))
    return [value for _, value in sorted(distinct.items()) if _can_be_asked(value) and looks[_look(value)] == 1]


def _look(value: Value) -> tuple[int, Any]:
    return value_order(cast("Value", tuple(map(str, seen)) if isinstance(seen := shown(value), list) else seen))


def _can_be_asked(value: Value) -> bool:
    if isinstance(value, Temporal):
        return value.kind in COMPARED
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str) or (isinstance(value, int) and abs(value) <= _EXACT)


def _owner(template: QuestionTemplate, name: str, chosen: Mapping[str, Value]) -> tuple[str, str]:
    """(role, name) of the label or relationship type that a property or value belongs to."""
    while template.parameters[name].role in ("property", "value"):
        name = str(template.parameters[name].of)
    return template.parameters[name].role, str(chosen[name])


def _sources(template: QuestionTemplate, name: str) -> set[str]:
    """The earlier parameters on which the choice of one depends: its owner, the owner's owner, what it differs from."""
    parameter = template.parameters[name]
    owners = {parameter.of, *_sources(template, parameter.of)} if parameter.of else set()
    return {source for source in (*owners, parameter.differs_from) if source is not None}


async def draw_parameters(
    kind: QuestionKind,
    index: GraphIndex,
    space: ParameterSpace,
    random: Random,
    scratch: Scratch,
    taken: Collection[Drawn] = (),
    bounds: RowBounds = ANY_ROWS,
    effort: Effort = GENERATED,
) -> tuple[dict[str, Value], list[Row]]:
    """Parameters that are not in `taken`, uniformly among all that are worth asking about and keep the `bounds`; and
    the right rows (`known_rows`).

    CannotHost says why the graph cannot host the question (again).
    """
    search = _Search(kind.template, bounds, space.size(kind.template), len(taken))
    tries = effort.tries_by_query if kind.python is None else effort.tries
    left = effort.ways_in_all
    for number in islice(_shuffled(search.size, random), tries + len(taken)):
        parameters = space.at(kind.template, number)
        if tuple(parameters.values()) in taken:
            continue
        question = instantiate(kind, index, parameters)
        if left is not None and effort.ways is not None:
            ways = ways_of(question, index)
            if ways > effort.ways:
                search.too_many_ways += 1
                continue
            if (left := left - ways) < 0:
                break
        most = None if effort.ways is None else bounds.at_most
        rows = await known_rows(question, index, scratch, most)
        if not has_answer(question, rows):
            search.unanswered += 1
        elif not bounds.hold(len(rows)):
            search.out_of_bounds += 1
        elif not await is_worth_asking(question, index, rows, scratch):
            search.trivial += 1
        else:
            return parameters, rows
    raise search.in_vain(index)


def _shuffled(size: int, random: Random) -> Iterator[int]:
    """The numbers below `size` in random order: Fisher and Yates's shuffle, of which only what was moved is kept."""
    moved: dict[int, int] = {}
    for place in range(size):
        other = random.randrange(place, size)
        yield moved.get(other, other)
        moved[other] = moved.pop(place, place)


class CannotHost(ConfigError):  # noqa: N818 - not always an error: own graphs are asked what they can host
    """No parameters were found for a question; `reason` is why, without the graph."""

    def __init__(self, message: str, *, reason: str, hint: str) -> None:
        super().__init__(message, hint=hint)
        self.reason = reason


@dataclass
class _Search:
    """What was looked at in vain, for the message that says so."""

    template: QuestionTemplate
    bounds: RowBounds
    size: int
    taken: int
    unanswered: int = 0
    out_of_bounds: int = 0
    trivial: int = 0
    too_many_ways: int = 0

    def in_vain(self, index: GraphIndex) -> "CannotHost":
        again = f" {self.taken + 1} times" if self.taken else ""
        graph = index.graph
        hint = "take a graph with more nodes or relationships, ask fewer questions of a kind, or leave this one out"
        reason = self._reason()
        return CannotHost(
            f"the graph {graph.digest[:12]} "
            f"({counted(graph.node_count, 'node')}, {counted(graph.relationship_count, 'relationship')}) "
            f"cannot host the question {self.template.name}{again}: {reason}",
            reason=reason,
            hint=f"give other bounds in suite.answer_rows, or {hint}" if self.out_of_bounds else hint,
        )

    def _reason(self) -> str:
        tried = self.unanswered + self.out_of_bounds + self.trivial + self.too_many_ways
        if not tried:
            return "there are no other parameters for it" if self.size else f"it takes {_needs(self.template)}"
        choices = f"{tried:,}" if tried + self.taken >= self.size else f"{tried:,} of {self.size:,}"
        other_sizes = [f"{self.out_of_bounds} not {self.bounds} rows"] if self.bounds != ANY_ROWS else []
        long = [f"{self.too_many_ways} too many ways to walk"] if self.too_many_ways else []
        found = [f"{self.unanswered} have no answer", *other_sizes, *long, f"{self.trivial} a trivial one"]
        return f"of {choices} choices tried, {', '.join(found[:-1])} and {found[-1]}"


def _needs(template: QuestionTemplate) -> str:
    """What a graph must have for the parameters to be drawn at all, in words."""
    roles = {parameter.role for parameter in template.parameters.values()}
    labels = "two labels" if any(p.differs_from for p in template.parameters.values()) else "a label"
    words = {"label": labels, "relationship_type": "a relationship type", "property": "properties"}
    return " and ".join(word for role, word in words.items() if role in roles)


async def known_rows(question: Question, index: GraphIndex, scratch: Scratch, most: int | None = None) -> list[Row]:
    """The right rows as the evaluator names them (of more than `most`, any `most` + 1); where there is none, as the
    embedded engine does.

    ConfigError where the engine refuses the Cypher, or the columns are not the answer fields.
    """
    asked = ", ".join(question.answer_fields)
    if question.right_rows is not None:
        rows = question.right_rows(index, most=most)
        if rows and rows[0].keys() != set(question.answer_fields):
            given = ", ".join(rows[0])
            raise question.kind.mistake(f"the Python part gives {given} in place of {asked}", "answer_fields")
        return rows
    try:
        rows = await cypher_rows(question, await scratch.store())
    except StoreError as error:
        raise question.kind.mistake(str(error), "cypher") from error
    for row in rows:
        if row.keys() != set(question.answer_fields):
            raise question.kind.mistake(f"the query returns {', '.join(row)} in place of {asked}", "cypher")
        if unfit := [name for name, value in row.items() if not isinstance(value, str | int | float | None)]:
            raise question.kind.mistake(f"{unfit[0]} is not a text, number, true, false or null", "cypher")
    return distinct(rows)


def has_answer(question: Question, rows: list[Row]) -> bool:
    """There is a row, and what is counted is at least 1."""
    computed = question.kind.template.computed
    return bool(rows) and all(row[field] not in (0, None) for row in rows for field in computed)


async def is_worth_asking(question: Question, index: GraphIndex, rows: list[Row], scratch: Scratch) -> bool:
    """True where the right answer `rows` is not trivial, as the `drawing` of the template says."""
    template = question.kind.template
    drawing = template.drawing
    if any(row[field] is None for row in rows for field in drawing.required_fields):
        return False
    candidates = count_candidates(template, index, question.parameters) if drawing.below_candidates else None
    if candidates is not None and len(rows) >= candidates:
        return False
    size = rows[0][template.computed[0]] if template.one_number else len(rows)
    for number in range(len(drawing.wider)):
        if await _wider_size(question, number, await scratch.store()) <= size:
            return False
    return True


async def _wider_size(question: Question, number: int, store: GraphStore) -> float:
    """The size of the answer with one condition left out."""
    place = ("drawing", "wider", number)
    kind = question.kind
    try:
        query = store.render(kind.template.drawing.wider[number], question.identifiers)
        rows = await store.run(query, question.values)
    except StoreError as error:
        raise kind.mistake(str(error), *place) from error
    if len(rows) != 1 or not isinstance(size := rows[0].get("size"), int | float):
        raise kind.mistake("the query must return one number, `size`", *place)
    return size
