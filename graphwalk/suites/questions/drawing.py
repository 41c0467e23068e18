"""Drawing parameters, so that a question has an answer on its graph, is not trivial, and can be written down."""

from collections.abc import Collection
from random import Random

from graphwalk.errors import ConfigError
from graphwalk.suites.questions.catalogue import QuestionKind
from graphwalk.suites.questions.oracle.graph_index import GraphIndex
from graphwalk.suites.questions.oracle.scratch import Scratch
from graphwalk.suites.questions.parameter_space import ParameterSpace
from graphwalk.suites.questions.question import instantiate
from graphwalk.suites.questions.template import QuestionTemplate
from graphwalk.suites.questions.worth_asking import has_answer, is_worth_asking, known_rows
from graphwalk.types.values import Value

TRIES = 20_000
"""Draws before a graph is said not to host a question; the presets need a few hundred at most."""
TRIES_BY_QUERY = 2_000
"""The same where every draw takes a query, because the question has no evaluator."""
LONG_ROWS = 20_000
"""Rows of good but long answers that are looked at before the shortest of them is taken."""

Drawn = tuple[Value, ...]
"""The parameters of a question in the template's order."""


async def draw_parameters(
    kind: QuestionKind,
    index: GraphIndex,
    space: ParameterSpace,
    random: Random,
    scratch: Scratch,
    taken: Collection[Drawn] = (),
) -> dict[str, Value]:
    """Parameters that are not in `taken`. ConfigError says why the graph cannot host the question (again)."""
    template = kind.template
    seen: set[Drawn] = set(taken)
    unanswered = trivial = 0
    long: list[tuple[int, dict[str, Value]]] = []
    for _ in range(TRIES_BY_QUERY if kind.python is None else TRIES):
        parameters = space.draw(template, random)
        if parameters is None or tuple(parameters.values()) in seen:
            continue
        seen.add(tuple(parameters.values()))
        question = instantiate(kind, index, parameters)
        rows = await known_rows(question, index, scratch)
        if not has_answer(question, rows):
            unanswered += 1
        elif not await is_worth_asking(question, index, rows, scratch):
            trivial += 1
        elif len(rows) <= template.preferred_rows:
            return parameters
        else:
            long.append((len(rows), parameters))
            if sum(size for size, _ in long) > LONG_ROWS:
                break
    if long:
        return min(long, key=lambda found: found[0])[1]
    raise _not_hosted(template, index, unanswered, trivial, len(taken))


def _not_hosted(
    template: QuestionTemplate, index: GraphIndex, unanswered: int, trivial: int, taken: int
) -> ConfigError:
    if unanswered or trivial:
        reason = f"of {unanswered + trivial} choices tried, {unanswered} have no answer and {trivial} a trivial one"
    elif taken:
        reason = "there are no other parameters for it"
    else:
        reason = "it takes " + " and ".join(_needs(template))
    again = f" {taken + 1} times" if taken else ""
    return ConfigError(
        f"the graph {index.graph.digest[:12]} ({index.graph.node_count} nodes, {index.graph.relationship_count} "
        f"relationships) cannot host the question {template.name}{again}: {reason}",
        hint="take a graph with more nodes or relationships, ask fewer questions of a kind, or leave this one out",
    )


def _needs(template: QuestionTemplate) -> list[str]:
    """What a graph must have for the parameters to be drawn at all, in words."""
    roles = {parameter.role for parameter in template.parameters.values()}
    labels = "two labels" if any(p.differs_from for p in template.parameters.values()) else "a label"
    words = {"label": labels, "relationship_type": "a relationship type", "property": "properties"}
    return [word for role, word in words.items() if role in roles]
