"""Drawing parameters, so that a question has an answer on its graph, and is not trivial."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from random import Random

from graphwalk.console import counted
from graphwalk.errors import ConfigError
from graphwalk.suites.questions.catalogue import QuestionKind
from graphwalk.suites.questions.oracle.graph_index import GraphIndex
from graphwalk.suites.questions.oracle.scratch import Scratch
from graphwalk.suites.questions.parameter_space import ParameterSpace
from graphwalk.suites.questions.question import instantiate, ways_of
from graphwalk.suites.questions.row_bounds import ANY_ROWS, RowBounds
from graphwalk.suites.questions.template import QuestionTemplate
from graphwalk.suites.questions.worth_asking import has_answer, is_worth_asking, known_rows
from graphwalk.types.graph import PropertyGraph
from graphwalk.types.values import Row, Value


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
_WAYS, _WAYS_PER_ENTITY, _SEARCHES = 5_000_000, 40, 4
"""What a question may take to answer grows with the graph; a dense one has far more ways than that."""


def generated_effort(graph: PropertyGraph) -> Effort:
    """For a generated graph of any size: seconds for a question at 10⁴ nodes, a minute at 10⁶."""
    ways = _WAYS + _WAYS_PER_ENTITY * (graph.node_count + graph.relationship_count)
    return replace(GENERATED, ways=ways, ways_in_all=_SEARCHES * ways)


OWN = Effort(2_000, 200, 300_000, 5_000_000)
"""On a graph of any shape and size: some seconds for a question."""

Drawn = tuple[Value, ...]
"""The parameters of a question in the template's order."""


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
        told = [f"{self.unanswered} have no answer", *other_sizes, *long, f"{self.trivial} a trivial one"]
        return f"of {choices} choices tried, {', '.join(told[:-1])} and {told[-1]}"


def _needs(template: QuestionTemplate) -> str:
    """What a graph must have for the parameters to be drawn at all, in words."""
    roles = {parameter.role for parameter in template.parameters.values()}
    labels = "two labels" if any(p.differs_from for p in template.parameters.values()) else "a label"
    words = {"label": labels, "relationship_type": "a relationship type", "property": "properties"}
    return " and ".join(word for role, word in words.items() if role in roles)
