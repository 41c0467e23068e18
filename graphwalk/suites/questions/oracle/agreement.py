"""Two oracles, one answer: a question's Cypher in the store against the evaluator over the graph in memory."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from graphwalk.errors import OracleError, StoreError
from graphwalk.stores.cypher import Identifiers, render_cypher
from graphwalk.stores.store import GraphStore
from graphwalk.suites.questions.oracle.evaluators import evaluate
from graphwalk.suites.questions.oracle.graph_index import GraphIndex
from graphwalk.suites.questions.oracle.rows import same_rows
from graphwalk.suites.questions.oracle.shrinking import smallest
from graphwalk.types.graph import PropertyGraph
from graphwalk.types.values import Row, Value

Load = Callable[[PropertyGraph], Awaitable[GraphStore]]
"""Puts a graph into a database: the `load` of a Database."""
_SHOWN = 60
"""Nodes and relationships, and rows, that a message lists."""


@dataclass(frozen=True)
class Question:
    """A question with its parameters, in the form that either oracle takes.

    `cypher` is the Jinja text, `identifiers` what it names, `values` its Cypher parameters, `answer_fields` the
    columns of its rows. `one_of_several`: the Cypher returns one of the right rows, not all of them.
    """

    name: str
    parameters: dict[str, Value]
    cypher: str
    identifiers: Identifiers
    values: dict[str, Value]
    answer_fields: tuple[str, ...]
    one_of_several: bool = False


async def agreed_rows(question: Question, index: GraphIndex, store: GraphStore, load: Load | None = None) -> list[Row]:
    """The right rows, each once, as both oracles name them.

    OracleError where they differ. With `load`, which puts a graph into a database, the error shows the smallest part
    of the graph found on which they differ there; the whole graph without it, or where they agree on all parts.
    """
    right = evaluate(question.name, index, question.parameters)
    found = await cypher_rows(question, store)
    if agree(question, found, right):
        return right
    graph = index.graph
    if load is not None:
        part = await smallest(graph, lambda smaller: _differ(question, smaller, load))
        if part.digest != graph.digest:
            graph = part
            right, found = await _both(question, part, load)
    raise OracleError(
        f"Cypher ({store.kind} store) and the evaluator of {question.name} differ on this graph:\n{_written(graph)}\n"
        f"parameters: {question.parameters}\nquery: {render_cypher(question.cypher, question.identifiers)}\n"
        f"Cypher found: {found[:_SHOWN]}\nthe evaluator found: {right[:_SHOWN]}",
        hint=f"templates/questions/{question.name}.yaml, its evaluator in graphwalk/oracle, or the store is wrong",
    )


async def cypher_rows(question: Question, store: GraphStore) -> list[Row]:
    """The rows that the store finds."""
    return await store.run(store.render(question.cypher, question.identifiers), question.values)


def agree(question: Question, found: list[Row], right: list[Row]) -> bool:
    """True where both are the same set of rows, or `found` is one of several right rows."""
    if question.one_of_several and right:
        return len(found) == 1 and same_rows([*right, *found], right)
    return same_rows(found, right)


async def _both(question: Question, graph: PropertyGraph, load: Load) -> tuple[list[Row], list[Row]]:
    store = await load(graph)
    try:
        found = await cypher_rows(question, store)
    finally:
        await store.drop()
    return evaluate(question.name, GraphIndex(graph), question.parameters), found


async def _differ(question: Question, graph: PropertyGraph, load: Load) -> bool:
    try:
        right, found = await _both(question, graph, load)
    except StoreError:
        # An engine may refuse a name that the smaller graph has lost: such a graph shows nothing.
        return False
    return not agree(question, found, right)


def _written(graph: PropertyGraph) -> str:
    nodes = [f"(:{n.label} {{key: {n.key!r}}}) {dict(n.properties)}" for n in graph.nodes()]
    relationships = [f"{r.source!r} -[:{r.type}]-> {r.target!r} {dict(r.properties)}" for r in graph.relationships()]
    lines = [f"  {line}" for line in (*nodes[:_SHOWN], *relationships[:_SHOWN])]
    left_out = len(nodes) + len(relationships) - len(lines)
    if left_out:
        lines.append(f"  … and {left_out} more; digest {graph.digest}, seed {graph.seed}")
    return "\n".join(lines)
