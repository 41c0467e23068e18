"""Comparison of two oracles: a question's Cypher in the store, and its evaluator on the graph in memory.

Without an evaluator, the Cypher results of the store and of the embedded engine are compared.
"""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace

from graphwalk.errors import OracleError, StoreError
from graphwalk.evaluation.rows import as_shown, distinct, same_rows
from graphwalk.stores.base import GraphStore
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.questions.catalogue import Question
from graphwalk.suites.questions.graph_index import GraphIndex
from graphwalk.suites.questions.kinds import PythonPart
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from graphwalk.types.values import Row

LoadGraph = Callable[[PropertyGraph], Awaitable[GraphStore]]
"""Function that loads a graph into a database: the `load` of a Database."""
Shows = Callable[[PropertyGraph], Awaitable[bool]]
_SHOWN = 60
"""Nodes, relationships and rows listed in a message."""
BUDGET = 400
"""Graphs tried in the search for a small counter-example."""


class Scratch:
    """A graph on the embedded engine, loaded on first use unless `store` is embedded; `load` loads other graphs."""

    def __init__(self, graph: PropertyGraph, store: GraphStore, load: LoadGraph | None = None) -> None:
        self.load = load or EmbeddedDatabase().load
        self._graph = graph
        self._store = store if store.in_process else None

    async def store(self) -> GraphStore:
        if self._store is None:
            self._store = await self.load(self._graph)
        return self._store


async def agreed_rows(
    question: Question, store: GraphStore, scratch: Scratch, right: list[Row] | None = None
) -> list[Row]:
    """Return the distinct correct rows if both oracles agree. `right` contains the evaluator's rows if known.

    Raise OracleError with the smallest part of the graph found on which the oracles differ.
    """
    found = await cypher_rows(question, store)
    part, kind = question.part, question.kind
    asked = f"parameters: {question.written}\nquery: {question.cypher}"
    if part is None:
        embedded = await scratch.store()
        other = found if embedded is store else await cypher_rows(question, embedded)
        if same_rows(found, other):
            return distinct(found)
        raise OracleError(
            f"the {store.kind} store and the embedded engine differ on {kind.name}, which has no evaluator\n"
            f"{asked}\nthe {store.kind} store found: {found[:_SHOWN]}\nthe embedded engine found: {other[:_SHOWN]}",
            hint=f"the Cypher in {kind.file.path} must return every correct row on any engine",
        )
    if right is None:
        right = part.right_rows(question.index)
    if agree(question, found, right):
        return right
    graph = question.index.graph
    smaller = await smallest(graph, lambda smaller: _differ(question, part, smaller, scratch.load))
    if smaller.digest != graph.digest:
        graph = smaller
        right, found = await _both(question, part, graph, scratch.load)
    raise OracleError(
        f"Cypher ({store.kind} store) and the evaluator of {kind.name} differ on this graph:\n{_written(graph)}\n"
        f"{asked}\nCypher found: {found[:_SHOWN]}\nthe evaluator found: {right[:_SHOWN]}",
        hint=f"the Cypher in {kind.file.path}, the Python part of {kind.name}, or the store is wrong",
    )


async def cypher_rows(question: Question, store: GraphStore, cypher: str | None = None) -> list[Row]:
    """Return the rows that the store finds with the query of the template, or with `cypher`."""
    query = store.render(cypher or question.kind.template.cypher, question.identifiers)
    return [as_shown(row) for row in await store.run(query, question.values)]


def agree(question: Question, found: list[Row], right: list[Row]) -> bool:
    """Return True for equal sets of rows, or if `found` is one of several tied rows, of which Cypher returns one."""
    if question.kind.template.mode == "ties-allowed" and right:
        return len(found) == 1 and same_rows([*right, *found], right)
    return same_rows(found, right)


async def _both(
    question: Question, part: PythonPart, graph: PropertyGraph, load: LoadGraph
) -> tuple[list[Row], list[Row]]:
    store = await load(graph)
    try:
        # As Cypher of our own, for many small graphs: it has run within limits on the whole one.
        found = await cypher_rows(question, store, str(question.kind.template.cypher))
    finally:
        await store.drop()
    return part.right_rows(GraphIndex(graph)), found


async def _differ(question: Question, part: PythonPart, graph: PropertyGraph, load: LoadGraph) -> bool:
    try:
        right, found = await _both(question, part, graph, load)
    except StoreError:
        # An engine may refuse a name that is missing in the smaller graph.
        return False
    return not agree(question, found, right)


def _written(graph: PropertyGraph) -> str:
    nodes = [f"(:{':'.join(n.labels)} {{key: {n.key!r}}}) {dict(n.properties)}" for n in graph.nodes()]
    relationships = [f"{r.source!r} -[:{r.type}]-> {r.target!r} {dict(r.properties)}" for r in graph.relationships()]
    lines = [f"  {line}" for line in (*nodes[:_SHOWN], *relationships[:_SHOWN])]
    left_out = len(nodes) + len(relationships) - len(lines)
    if left_out:
        lines.append(f"  … and {left_out} more; digest {graph.digest}, seed {graph.seed}")
    return "\n".join(lines)


async def smallest(graph: PropertyGraph, shows: Shows, budget: int = BUDGET) -> PropertyGraph:
    """Return a small part of `graph` for which `shows` is True, or `graph` itself; call `shows` at most `budget` times.

    Chunks of relationships, then of nodes, shrink from a half to one; then properties are removed.
    """
    left = budget

    async def holds(parts: list[Node | Relationship]) -> bool:
        nonlocal left
        left -= 1
        return left >= 0 and await shows(_part_of(graph, parts))

    parts: list[Node | Relationship] = [*graph.relationships(), *graph.nodes()]
    chunk = len(parts) // 2
    while chunk:
        start = 0
        while start < len(parts):
            fewer = parts[:start] + parts[start + chunk :]
            if await holds(fewer):
                parts = fewer
            else:
                start += chunk
        chunk //= 2
    kept = _part_of(graph, parts)
    parts = [*kept.nodes(), *kept.relationships()]
    for position, part in enumerate(parts):
        plain = [*parts[:position], replace(part, properties={}), *parts[position + 1 :]]
        if part.properties and await holds(plain):
            parts = plain
    return _part_of(graph, parts)


def _part_of(graph: PropertyGraph, parts: Iterable[Node | Relationship]) -> PropertyGraph:
    """Return these nodes and relationships as a graph, with the ends of the relationships."""
    relationships = [part for part in parts if isinstance(part, Relationship)]
    given = {part.key: part for part in parts if isinstance(part, Node)}
    ends = {key for r in relationships for key in (r.source, r.target)}
    nodes = [given.get(node.key, node) for node in graph.nodes() if node.key in given or node.key in ends]
    return PropertyGraph.from_rows(nodes, relationships, seed=graph.seed)
