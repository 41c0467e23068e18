"""Planning: the twelve questions about one graph, with both oracles and reference walks, in processor time of one core.

Plain is the reference as a model would walk it: every result of a tool made as text, counted, and read back.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from math import log2
from typing import Any
from unittest.mock import patch

from benchmarks.graphs import SEED, spec_of
from benchmarks.measure import Row
from graphwalk.graphs.generate import generate_graph
from graphwalk.stores.base import GraphStore
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.questions.catalogue import choose_kinds
from graphwalk.suites.questions.generate import make_tasks, tasks_in
from graphwalk.suites.questions.reference import ExpertReference
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.types.graph import PropertyGraph

AIMS = {10_000: 3.0, 100_000: 20.0, 1_000_000: 240.0}
"""Seconds by nodes."""
LARGEST_BY_TEXT = 10_000
_GRAPHS = 5


def measure(quick: bool, full: bool) -> Iterator[Row]:
    """Seconds by size, beside the plain way where that ends within minutes, and how they grow."""
    for nodes in (100,) if quick else (100, 200, 500):
        name = f"plan {nodes} nodes ÷ the engine's own time for the same calls"
        yield Row(name, "s", *asyncio.run(_beside_the_engine(nodes)), aim=1.5)
    seconds: dict[int, float] = {}
    for nodes in (100,) if quick else (100, 1_000, 10_000, 100_000, *((1_000_000,) if full else ())):
        seconds[nodes], plain = asyncio.run(_both(nodes))
        yield Row(f"plan {nodes:,} nodes", "s", [seconds[nodes]], aim=AIMS.get(nodes))
        if plain is not None:
            yield Row(f"plan {nodes:,} nodes ÷ reference by texts", "s", [seconds[nodes]], [plain])
    for nodes, spent in seconds.items():
        yield Row(f"the same ÷ n log n, {nodes:,} nodes", "µs", [spent / (nodes * log2(nodes)) * 1e6])


def seconds_of_planning(nodes: int, number: int) -> float:
    """Processor time of one graph, without making and loading it."""

    async def plan() -> float:
        graph = generate_graph(spec_of(nodes), SEED, number)
        store = await EmbeddedDatabase().load(graph)
        begun = time.process_time()
        await tasks_in(graph, store, choose_kinds(), seed=SEED)
        return time.process_time() - begun

    return asyncio.run(plan())


async def _both(nodes: int) -> tuple[float, float | None]:
    graph = generate_graph(spec_of(nodes), SEED, 0)
    store = await EmbeddedDatabase().load(graph)
    begun = time.process_time()
    ours = await tasks_in(graph, store, choose_kinds(), seed=SEED)
    spent = time.process_time() - begun
    if nodes > LARGEST_BY_TEXT:
        return spent, None
    begun = time.process_time()
    if await _by_texts(graph, store) != ours:
        raise AssertionError("the reference on rows is not that by texts")
    return spent, time.process_time() - begun


async def _beside_the_engine(nodes: int) -> tuple[list[float], list[float]]:
    """Seconds of planning, and those that the engine alone takes for the queries of oracle and expert; of some graphs
    after a first one, for which templates are compiled.
    """
    ours, engine = [], []
    for number in range(_GRAPHS + 1):
        graph = generate_graph(spec_of(nodes), SEED, number)
        store = await EmbeddedDatabase().load(graph)
        begun = time.perf_counter()
        await tasks_in(graph, store, choose_kinds(), seed=SEED)
        ours.append(time.perf_counter() - begun)
        clock = _Clock(store.run)
        with patch.object(store, "run", clock.run):
            await _by_texts(graph, store)
        engine.append(clock.seconds)
    return ours[1:], engine[1:]


class _Clock:
    """How long queries take."""

    def __init__(self, run: Callable[..., Awaitable[Any]]) -> None:
        self._run = run
        self.seconds = 0.0

    async def run(self, *given: Any, **named: Any) -> Any:
        begun = time.perf_counter()
        try:
            return await self._run(*given, **named)
        finally:
            self.seconds += time.perf_counter() - begun


async def _by_texts(graph: PropertyGraph, store: GraphStore) -> list[QuestionTask]:
    schema = await store.schema()
    return await make_tasks(graph, store, seed=SEED, reference=ExpertReference(schema, GraphToolbox(store, schema)))
