"""Random drawing of a question's parameters, so that its answer is neither empty nor trivial."""

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, islice
from random import Random
from typing import Any

from graphwalk.errors import StoreError
from graphwalk.graphs.graph import value_order
from graphwalk.graphs.values import Row, Temporal, TemporalKind, Value, shown
from graphwalk.stores.base import GraphStore
from graphwalk.suites.questions.catalogue import QuestionKind
from graphwalk.suites.questions.config import Drawing
from graphwalk.suites.questions.graph_index import EntityType, GraphIndex
from graphwalk.suites.questions.question import CannotHost, Question, correct_rows

MAX_HOPS = 3
"""Maximum number of hops; a generated graph may have another one."""
_EXACT = 2**53
"""Largest integer that programs with floating-point numbers keep exactly."""
COMPARED: frozenset[TemporalKind] = frozenset({"date", "local time", "local datetime"})
"""Temporal types whose texts are equal exactly if Cypher's `=` holds; not so with time zones and durations."""
Chosen = dict[str, Value]


class ParameterSpace:
    """All parameter sets of a kind on a graph, numbered 0 … `size` - 1 in an order that depends on content alone.

    Sets are counted, not listed. A label with many properties is in more sets than one with few.
    """

    def __init__(self, index: GraphIndex) -> None:
        self._index = index
        self._max_hops = int(index.graph.spec.get("hops", MAX_HOPS))
        self._values: dict[tuple[EntityType, str, str], list[Value]] = {}
        self._counts: dict[tuple[Value, ...], int] = {}

    def size(self, kind: QuestionKind) -> int:
        return self._count(kind, list(kind.parameters), {})

    def at(self, kind: QuestionKind, number: int) -> Chosen:
        """Return parameter set `number`, 0 ≤ number < size."""
        chosen: Chosen = {}
        names = list(kind.parameters)
        while names:
            options, counts = self._next(kind, names, chosen)
            ends = list(accumulate(counts))
            place = bisect_right(ends, number)
            number -= ends[place] - counts[place]
            chosen[names.pop(0)] = options[place]
        return chosen

    def step_by_step(self, kind: QuestionKind, random: Random) -> Chosen | None:
        """Return parameters drawn one after another, each uniformly among its options; None if one has no options."""
        chosen: Chosen = {}
        for name in kind.parameters:
            options = self.options(kind, name, chosen)
            if not options:
                return None
            chosen[name] = random.choice(options)
        return chosen

    def _count(self, kind: QuestionKind, names: Sequence[str], chosen: Chosen) -> int:
        """Return the number of choices for these parameters, which follow the chosen ones."""
        if not names:
            return 1
        owners = kind.owners[names[0]]
        key = (kind.name, names[0], *(value for name, value in chosen.items() if name in owners))
        if key not in self._counts:
            self._counts[key] = sum(self._next(kind, names, chosen)[1])
        return self._counts[key]

    def _next(self, kind: QuestionKind, names: Sequence[str], chosen: Chosen) -> tuple[Sequence[Value], list[int]]:
        """Return the options of the first of these parameters, and the number of choices for the others after each."""
        name, *later = names
        options = self.options(kind, name, chosen)
        later_ones_depend_on_it = bool(later) and name in kind.owners[later[0]]
        if not later_ones_depend_on_it:
            # However it is chosen, there are as many choices for the others: they are counted once.
            return options, [self._count(kind, later, chosen)] * len(options)

        counts = []
        for option in options:
            counts.append(self._count(kind, later, {**chosen, name: option}))
        return options, counts

    def options(self, kind: QuestionKind, name: str, chosen: Mapping[str, Value]) -> Sequence[Value]:
        """Return the options of a parameter whose owners are chosen."""
        parameter = kind.parameters[name]
        match parameter.role:
            case "label":
                other = chosen.get(parameter.differs_from or "")
                return [label for label in sorted(self._index.keys_by_label) if label != other]
            case "relationship_type":
                return sorted(self._index.relationships_of)
            case "key":
                return self._index.keys_of(str(chosen[str(parameter.of)]))
            case "property":
                return self._index.property_names(*owner_of(kind, name, chosen))
            case "value":
                column = (*owner_of(kind, name, chosen), str(chosen[str(parameter.of)]))
                if column not in self._values:
                    self._values[column] = _unambiguous(self._index.values(*column))
                return self._values[column]
            case "hops":
                return range(min(parameter.at_least, self._max_hops), self._max_hops + 1)


def _unambiguous(column: Iterable[Value]) -> list[Value]:
    """Return the distinct values that a question can contain, in order: JSON values, dates and times.

    Of 1 and 1.0 the integer is kept. Two values with the same text, for example a date and its text, are left out.
    """
    distinct: dict[tuple[int, Any], Value] = {}
    # The later one stays: of float and int the int.
    for value in sorted(column, key=lambda value: type(value).__name__):
        distinct[value_order(value)] = value
    texts = Counter(value_order(shown(value)) for value in distinct.values() if not isinstance(value, tuple))
    unambiguous = []
    for _, value in sorted(distinct.items()):
        if _can_be_asked(value) and texts[value_order(shown(value))] == 1:
            unambiguous.append(value)
    return unambiguous


def _can_be_asked(value: Value) -> bool:
    if isinstance(value, Temporal):
        return value.kind in COMPARED
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, int):
        return abs(value) <= _EXACT
    return isinstance(value, str)


def owner_of(kind: QuestionKind, name: str, chosen: Mapping[str, Value]) -> tuple[EntityType, str]:
    """Return the label or relationship type that a parameter is, or that a property or value belongs to."""
    while kind.parameters[name].role in ("property", "value"):
        name = str(kind.parameters[name].of)
    return "node" if kind.parameters[name].role == "label" else "relationship", str(chosen[name])


class ParameterSearch:
    """Search for the parameters of questions about one graph. `embedded` has it on the embedded engine."""

    def __init__(
        self, index: GraphIndex, embedded: GraphStore, drawing: Drawing = "nontrivial", most_rows: int | None = None
    ) -> None:
        """`most_rows`: maximum of rows of an answer; None: no limit."""
        self._index = index
        self._embedded = embedded
        self._drawing = drawing
        self._most_rows = most_rows
        self._space = ParameterSpace(index)

    async def draw(
        self, kind: QuestionKind, random: Random, taken: Collection[tuple[Value, ...]] = ()
    ) -> tuple[Question, list[Row]]:
        """Return a question whose parameters are not in `taken`, and its `correct_rows`.

        Raise CannotHost with the reason if none is found.
        """
        # Limits that do not depend on time, so that results are reproducible: the number of parameter sets, a tenth of
        # it if each takes a query, and the walks of one question, four times as many those of a search. They allow
        # seconds per question on your own graph of any size, or on a generated one of 10⁴ nodes.
        graph = self._index.graph
        most_rows = self._most_rows
        tries = 2_000
        most_ways = 1_000_000
        if graph.spec:
            tries = 20_000
            most_ways = 5_000_000 + 40 * (graph.node_count + graph.relationship_count)
        if kind.python is None:
            tries //= 10
        tried = 0
        ways_in_all = 0
        for parameters in islice(self._choices(kind, random), tries + len(taken)):
            if tuple(parameters.values()) in taken:
                continue
            tried += 1
            question = Question(kind, self._index, parameters)
            ways = question.count_ways()
            if ways > most_ways:
                continue
            ways_in_all += ways
            if ways_in_all > 4 * most_ways:
                break
            rows = await correct_rows(question, self._embedded, most_rows)
            fits = has_answer(question, rows) and (most_rows is None or len(rows) <= most_rows)
            if fits and (self._drawing == "answerable" or await is_worth_asking(question, rows, self._embedded)):
                return question, rows
        answer = "an answer"
        if most_rows is not None:
            answer += f" of at most {most_rows} rows (suite.most_rows)"
        if self._drawing != "answerable":
            answer += " that is not trivial"
        raise CannotHost(f"none of {tried:,} parameter sets has {answer}")

    def _choices(self, kind: QuestionKind, random: Random) -> Iterator[dict[str, Value]]:
        """Yield parameter sets: each of them once, or draws step by step, which may repeat."""
        size = self._space.size(kind)
        if self._drawing == "nontrivial":
            for number in _shuffled(size, random):
                yield self._space.at(kind, number)
            return
        while size:
            chosen = self._space.step_by_step(kind, random)
            if chosen is not None:
                yield chosen


def _shuffled(size: int, random: Random) -> Iterator[int]:
    """Yield the numbers below `size` in random order by a sparse Fisher–Yates shuffle."""
    moved: dict[int, int] = {}
    for place in range(size):
        other = random.randrange(place, size)
        yield moved.get(other, other)
        moved[other] = moved.pop(place, place)


def has_answer(question: Question, rows: list[Row]) -> bool:
    """Return True if a row has all required values and no computed value is 0 or null."""
    for row in rows:
        if any(row[field] in (0, None) for field in question.kind.computed):
            return False
    required = question.kind.drawing.required_fields
    for row in rows:
        missing = [field for field in required if row[field] is None]
        if not missing:
            return True
    return False


async def is_worth_asking(question: Question, rows: list[Row], embedded: GraphStore) -> bool:
    """Return True if the answer meets the conditions in `drawing` of its kind.

    Raise ConfigError if a query of `wider` is refused, or returns no `size`.
    """
    kind = question.kind
    drawing = kind.drawing
    for row in rows:
        if any(row[field] is None for field in drawing.required_fields):
            return False
    if drawing.below_candidates and question.candidates is not None and len(rows) >= question.candidates:
        return False
    size = len(rows)
    is_number = len(kind.computed) == 1 and kind.computed == kind.answer_fields
    if is_number:
        size = rows[0][kind.computed[0]]
    for number, text in enumerate(drawing.wider):
        place = ("drawing", "wider", number)
        try:
            sizes = await embedded.run(embedded.render(text, question.identifiers_in(embedded)), question.values)
        except StoreError as error:
            raise kind.mistake(error.message, *place) from error
        if len(sizes) != 1 or not isinstance(wider := sizes[0].get("size"), int | float):
            raise kind.mistake("the query must return one number, `size`", *place)
        if wider <= size:
            return False
    return True
