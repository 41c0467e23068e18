"""Tool calls of the agent against the same Cypher sent raw, on the embedded engine and on Neo4j.

A tool call reads JSON arguments, checks names against the schema, runs its Cypher, sorts the rows and writes them as
JSON. Raw means the bare engine or driver with the finished Cypher text, its rows taken as they come.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.measure import Pair, Row, in_turns
from benchmarks.servers import neo4j_server
from graphwalk.config.agent import AgentConfig
from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.graphs.graph import PropertyGraph
from graphwalk.models.chat import ToolCall
from graphwalk.stores.base import GraphStore, open_database
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.tools.tool import GRAPH_SWITCHES, SWITCHES, load_tools
from graphwalk.variables import Variables

SEED = 7
TOOLS = ("get_node_by_property", "get_all_nearest_neighbors", "get_unique_property_values")
Query = tuple[str, dict[str, Any]]
"""Cypher and its parameters."""
Send = Callable[[Query], Awaitable[object]]


@dataclass(frozen=True)
class Work:
    """The same look-ups twice: as calls of a model, and as finished queries."""

    calls: list[ToolCall]
    queries: list[Query]


def measure(quick: bool) -> Iterator[Row]:
    """Rows for both stores; per tool call, a third of the calls going to each of the three tools."""
    graph = generate_graph(GraphSpec(preset="paper-100" if quick else "paper-500"), SEED, 0)
    with asyncio.Runner() as runner:
        yield _embedded_row(runner, graph, quick)
        with neo4j_server() as server:
            if isinstance(server, str):
                yield Row("tool call on Neo4j ÷ same Cypher raw", missing=f"no Neo4j: {server}")
            else:
                yield _neo4j_row(runner, graph, server, quick)


def _embedded_row(runner: asyncio.Runner, graph: PropertyGraph, quick: bool) -> Row:
    database = runner.run(open_database("embedded", Variables(), run_id="bench"))
    store = runner.run(database.load(graph))
    engine = store._engine  # type: ignore[attr-defined]

    async def raw(query: Query) -> object:
        return engine.cypher(query[0], params=query[1], timeout_ms=30_000, hide_structural_keys=True).to_list()

    return _row("tool call, embedded ÷ same Cypher raw", _compare(runner, graph, store, raw, quick))


def _neo4j_row(runner: asyncio.Runner, graph: PropertyGraph, server: Variables, quick: bool) -> Row:
    from neo4j import AsyncGraphDatabase

    database = runner.run(open_database("neo4j", server, run_id="bench"))
    store = runner.run(database.load(graph))
    driver = AsyncGraphDatabase.driver(
        server.get("NEO4J_URI") or "",
        auth=(server.get("NEO4J_USERNAME") or "neo4j", server.get("NEO4J_PASSWORD") or ""),
    )

    async def raw(query: Query) -> object:
        async with driver.session(default_access_mode="READ") as session:
            result = await session.run(*query)
            return [record.values() async for record in result]

    try:
        return _row("tool call on Neo4j ÷ same Cypher raw", _compare(runner, graph, store, raw, quick), aim=1.3)
    finally:
        runner.run(driver.close())
        runner.run(store.drop())
        runner.run(database.close())


def _compare(runner: asyncio.Runner, graph: PropertyGraph, store: GraphStore, send: Send, quick: bool) -> Pair:
    """Seconds per call."""
    toolbox = GraphToolbox(store, runner.run(store.schema()))
    work = work_on(graph, store, 30 if quick else 600)

    async def ours() -> None:
        for call in work.calls:
            result = await toolbox.call(call)
            assert result.error is None

    async def plain() -> None:
        for query in work.queries:
            await send(query)

    runner.run(ours())  # both once for nothing: plans are made, connections opened
    runner.run(plain())
    pair = in_turns(lambda: runner.run(ours()), lambda: runner.run(plain()), 1 if quick else 7)
    return Pair(*([seconds / len(work.calls) for seconds in way] for way in (pair.ours, pair.plain)))


def work_on(graph: PropertyGraph, store: GraphStore, count: int) -> Work:
    """Look-ups that find something, spread over labels, properties and nodes."""
    work = Work([], [])
    switches = {name: getattr(AgentConfig(), name) for name in SWITCHES} | dict.fromkeys(GRAPH_SWITCHES, False)
    tools = load_tools(TOOLS)
    for number in range(count):
        tool, turn = tools[number % len(tools)], number // len(tools)
        table = graph.node_tables[turn % len(graph.node_tables)]
        names = sorted(table.columns)
        name = names[turn % len(names)]
        node = turn % len(table.numbers)
        value = table.columns[name].pool[int(table.columns[name].codes[node])]
        arguments: dict[str, Any] = {"label": table.label, "property_name": name, "property_value": value}
        if tool.name == "get_all_nearest_neighbors":
            arguments |= {"property_name": "key", "property_value": graph.keys[int(table.numbers[node])]}
        elif tool.name == "get_unique_property_values":
            arguments = {"property_name": name, "entity_name": table.label, "entity_type": "node"}
        parameters = {"property_value": arguments.get("property_value"), "direction": None}
        identifiers = {"relationship_type": None, **switches, **arguments}
        identifiers.pop("property_value", None)
        work.calls.append(ToolCall(str(number), tool.name, json.dumps(arguments)))
        work.queries.append((store.render(tool.cypher or "", identifiers), parameters))
    return work


def _row(name: str, pair: Pair, aim: float | None = None) -> Row:
    return Row(name, "ms", [s * 1e3 for s in pair.ours], [s * 1e3 for s in pair.plain], aim)
