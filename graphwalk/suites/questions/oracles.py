"""Comparison of two oracles: a question's Cypher in the store, and its evaluator on the graph in memory.

Without an evaluator, the Cypher results of the store and of the embedded engine are compared.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from graphwalk.errors import OracleError, StoreError
from graphwalk.stores.base import GraphStore
from graphwalk.stores.cypher import render_cypher
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.questions.catalogue import Question
from graphwalk.suites.questions.graph_index import GraphIndex
from graphwalk.suites.questions.rows import as_shown, distinct, same_rows
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from graphwalk.types.values import Row

LoadGraph = Callable[[PropertyGraph], Awaitable[GraphStore]]
"""Function that loads a graph into a database: the `load` of a Database."""
RightRows = Callable[[GraphIndex], list[Row]]
Shows = Callable[[PropertyGraph], Awaitable[bool]]
T = TypeVar("T")
Entity = TypeVar("Entity", bound=Node | Relationship)
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
    question: Question, index: GraphIndex, store: GraphStore, scratch: Scratch, right: list[Row] | None = None
) -> list[Row]:
    """Return the distinct correct rows if both oracles agree. `right` contains the evaluator's rows if known.

    Raise OracleError with the smallest part of the graph found on which the oracles differ.
    """
    found = await cypher_rows(question, store)
    if question.right_rows is None:
        return await _agreed_by_engines(question, found, store, scratch)
    right_rows = question.right_rows
    if right is None:
        right = right_rows(index)
    if agree(question, found, right):
        return right
    graph = index.graph
    part = await smallest(graph, lambda smaller: _differ(question, right_rows, smaller, scratch.load))
    if part.digest != graph.digest:
        graph = part
        right, found = await _both(question, right_rows, part, scratch.load)
    raise OracleError(
        f"Cypher ({store.kind} store) and the evaluator of {question.name} differ on this graph:\n{_written(graph)}\n"
        f"{_asked(question)}\nCypher found: {found[:_SHOWN]}\nthe evaluator found: {right[:_SHOWN]}",
        hint=f"the Cypher in {question.kind.file.path}, the Python part of {question.name}, or the store is wrong",
    )


async def _agreed_by_engines(question: Question, found: list[Row], store: GraphStore, scratch: Scratch) -> list[Row]:
    """Return the rows of the store if the embedded engine finds the same."""
    embedded = await scratch.store()
    other = found if embedded is store else await cypher_rows(question, embedded)
    if same_rows(found, other):
        return distinct(found)
    raise OracleError(
        f"the {store.kind} store and the embedded engine differ on {question.name}, which has no evaluator\n"
        f"{_asked(question)}\nthe {store.kind} store found: {found[:_SHOWN]}\n"
        f"the embedded engine found: {other[:_SHOWN]}",
        hint=f"the Cypher in {question.kind.file.path} must return every correct row on any engine",
    )


async def cypher_rows(question: Question, store: GraphStore) -> list[Row]:
    """Return the rows that the store finds."""
    found = await store.run(store.render(question.cypher, question.identifiers), question.values)
    return [as_shown(row) for row in found]


def agree(question: Question, found: list[Row], right: list[Row]) -> bool:
    """Return True for equal sets of rows, or if `found` is one of several correct rows."""
    if question.one_of_several and right:
        return len(found) == 1 and same_rows([*right, *found], right)
    return same_rows(found, right)


async def _both(
    question: Question, right_rows: RightRows, graph: PropertyGraph, load: LoadGraph
) -> tuple[list[Row], list[Row]]:
    store = await load(graph)
    try:
        found = await cypher_rows(question, store)
    finally:
        await store.drop()
    return right_rows(GraphIndex(graph)), found


async def _differ(question: Question, right_rows: RightRows, graph: PropertyGraph, load: LoadGraph) -> bool:
    try:
        right, found = await _both(question, right_rows, graph, load)
    except StoreError:
        # An engine may refuse a name that is missing in the smaller graph.
        return False
    return not agree(question, found, right)


def _asked(question: Question) -> str:
    return f"parameters: {question.written}\nquery: {render_cypher(question.cypher, question.identifiers)}"


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

    Relationships are removed first, then nodes, then properties.
    """
    search = _Search(shows, budget)
    nodes, relationships = list(graph.nodes()), list(graph.relationships())
    relationships = await search.fewest(relationships, lambda kept: PropertyGraph.from_rows(nodes, kept))
    ends = {key for r in relationships for key in (r.source, r.target)}
    joined = [node for node in nodes if node.key in ends]
    lonely = [node for node in nodes if node.key not in ends]
    lonely = await search.fewest(lonely, lambda kept: PropertyGraph.from_rows([*joined, *kept], relationships))
    nodes = [*joined, *lonely]
    nodes = await search.plain(nodes, lambda plain: PropertyGraph.from_rows(plain, relationships))
    relationships = await search.plain(relationships, lambda plain: PropertyGraph.from_rows(nodes, plain))
    return PropertyGraph.from_rows(nodes, relationships, seed=graph.seed)


class _Search:
    def __init__(self, shows: Shows, budget: int) -> None:
        self._shows = shows
        self._left = budget

    async def _holds(self, graph: PropertyGraph) -> bool:
        self._left -= 1
        return self._left >= 0 and await self._shows(graph)

    async def fewest(self, items: list[T], graph_of: Callable[[list[T]], PropertyGraph]) -> list[T]:
        """Remove unneeded chunks of items; chunks shrink from a half to one."""
        chunk = max(1, len(items) // 2)
        while items:
            start = 0
            while start < len(items):
                fewer = items[:start] + items[start + chunk :]
                if await self._holds(graph_of(fewer)):
                    items = fewer
                else:
                    start += chunk
            if chunk == 1:
                break
            chunk //= 2
        return items

    async def plain(self, entities: list[Entity], graph_of: Callable[[list[Entity]], PropertyGraph]) -> list[Entity]:
        """Remove unneeded properties of entities."""
        for position, entity in enumerate(entities):
            changed = [*entities[:position], replace(entity, properties={}), *entities[position + 1 :]]
            if entity.properties and await self._holds(graph_of(changed)):
                entities = changed
        return entities
