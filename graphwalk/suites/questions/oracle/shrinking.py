"""The smallest graph that still shows something: greedy removal, in halves first and one by one in the end."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from graphwalk.types.graph import Node, PropertyGraph, Relationship

Shows = Callable[[PropertyGraph], Awaitable[bool]]
T = TypeVar("T")
Entity = TypeVar("Entity", bound=Node | Relationship)

BUDGET = 400
"""Graphs tried before the smallest so far is taken."""


async def smallest(graph: PropertyGraph, shows: Shows, budget: int = BUDGET) -> PropertyGraph:
    """A part of `graph` that still `shows` it: first without relationships, then nodes, then properties to spare.

    Returns `graph` itself where nothing can be left out. At most `budget` calls of `shows`.
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
        """Items without the chunks that are not needed; chunks shrink from a half to one."""
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
        """Entities without the properties that are not needed."""
        for position, entity in enumerate(entities):
            changed = [*entities[:position], replace(entity, properties={}), *entities[position + 1 :]]
            if entity.properties and await self._holds(graph_of(changed)):
                entities = changed
        return entities
