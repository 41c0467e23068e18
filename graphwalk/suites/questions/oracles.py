"""Comparison of two oracles: a question's Cypher in the store, and its evaluator on the graph in memory.

Without an evaluator, the Cypher results of the store and of the embedded engine are compared.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from graphwalk.errors import OracleError, StoreError
from graphwalk.stores.base import GraphStore
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.questions.catalogue import Question
from graphwalk.suites.questions.graph_index import GraphIndex
from graphwalk.suites.questions.kinds import PythonPart
from graphwalk.suites.questions.rows import as_shown, distinct, same_rows
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from graphwalk.types.values import Row

LoadGraph = Callable[[PropertyGraph], Awaitable[GraphStore]]
"""Function that loads a graph into a database: the `load` of a Database."""
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
        found = await cypher_rows(question, store)
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
