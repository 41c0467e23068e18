"""Graphs of 10⁴ to 10⁶ nodes: generated, against a plain Python loop; loaded, against the engines' own bulk statements.

The plain loop draws labels, properties and relationships one by one with `random`; it makes rows, and checks no names.
The plain loads unwind the same rows, ready made, in the same batches, into an empty store; they keep no ledger, take no
care of names, and could not resume after a kill.
"""

import asyncio
import random
from collections.abc import Iterator
from functools import partial
from typing import Any

from benchmarks.measure import Pair, Row, in_turns
from benchmarks.servers import neo4j_server
from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.graphs.graph import PropertyGraph
from graphwalk.stores.base import Database, open_database
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.loading import node_batches, relationship_batches
from graphwalk.variables import Variables

MEAN_DEGREE = 5.0
SEED = 7
BATCH = 10_000
AIM_SECONDS = 30.0
"""For 10⁶ nodes and 5·10⁶ relationships."""
_DELETE = "MATCH (n:GraphWalkBench) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 10000 ROWS"
Statement = tuple[str, list[dict[str, Any]]]


def spec_of(nodes: int) -> GraphSpec:
    return GraphSpec(nodes=nodes, labels=8, relationship_types=4, properties=6, values=10, mean_degree=MEAN_DEGREE)


def measure_generation(quick: bool, full: bool) -> Iterator[Row]:
    """Rows for generation; the largest graph has an aim of its own, in seconds."""
    for nodes in (1_000,) if quick else (10_000, 100_000, 1_000_000):
        large = nodes == 1_000_000
        spec = spec_of(nodes)
        ours, plain = partial(generate_graph, spec, SEED, 0), partial(plain_graph, spec)
        pair = in_turns(ours, plain, 1 if quick or large else 3)
        yield Row(f"generate {_size(nodes)} ÷ plain loop", "s", pair.ours, pair.plain)
        if large:
            yield Row(f"generate {_size(nodes)}", "s", pair.ours, aim=AIM_SECONDS)


def plain_graph(spec: GraphSpec) -> tuple[list[Any], list[Any]]:
    """Nodes (key, label, properties) and relationships (type, source, target, properties) of the same sizes."""
    draw = random.Random(SEED)
    names, values, labels = range(int(spec.properties)), range(spec.values), range(spec.labels)
    nodes = [
        (f"n{number}", draw.choice(labels), {name: draw.choice(values) for name in names})
        for number in range(spec.nodes)
    ]
    relationships = [
        (draw.randrange(spec.relationship_types), source, draw.randrange(spec.nodes), _properties(draw, names, values))
        for source in range(spec.nodes)
        for _ in range(int(MEAN_DEGREE))
    ]
    return nodes, relationships


def _properties(draw: random.Random, names: range, values: range) -> tuple[int, ...]:
    return tuple(draw.choice(values) for _ in names)


def measure_loading(quick: bool, full: bool) -> Iterator[Row]:
    """Rows for both stores; above 10⁴ nodes Neo4j is loaded once, at 10⁶ the embedded store as well."""
    sizes = (1_000,) if quick else (10_000, 100_000, *((1_000_000,) if full else ()))
    with asyncio.Runner() as runner, neo4j_server() as server:
        for nodes in sizes:
            graph = generate_graph(spec_of(nodes), SEED, 0)
            repetitions = 1 if quick or nodes > 100_000 else 3
            yield _embedded_row(runner, graph, repetitions)
            if isinstance(server, str):
                yield Row(f"load {_size(nodes)} into Neo4j ÷ raw UNWIND", missing=f"no Neo4j: {server}")
            else:
                yield _neo4j_row(runner, graph, server, repetitions if nodes <= 10_000 else 1)


def _embedded_row(runner: asyncio.Runner, graph: PropertyGraph, repetitions: int) -> Row:
    nodes = [(labels[0], rows) for labels, rows in node_batches(graph, BATCH)]
    joined = list(relationship_batches(graph, BATCH, by_pair=True))

    def plain() -> None:
        import kglite

        engine = kglite.KnowledgeGraph()
        for label, rows in nodes:
            engine.cypher(f"UNWIND $rows AS row CREATE (n:{label}) SET n += row", params={"rows": rows})
        for table in graph.node_tables:
            engine.cypher(f"CREATE INDEX FOR (n:{table.label}) ON (n.key)")
        for type_, pair, rows in joined:
            source, target = pair or ("", "")
            match = f"MATCH (a:{source} {{key: row.s}}), (b:{target} {{key: row.t}})"
            engine.cypher(
                f"UNWIND $rows AS row {match} CREATE (a)-[r:{type_}]->(b) SET r += row.p", params={"rows": rows}
            )

    pair = in_turns(lambda: runner.run(EmbeddedDatabase().load(graph)), plain, repetitions)
    return Row(f"load {_size(graph.node_count)}, embedded ÷ plain kglite", "s", pair.ours, pair.plain)


def _neo4j_row(runner: asyncio.Runner, graph: PropertyGraph, server: Variables, repetitions: int) -> Row:
    """Both are loaded and removed once for nothing, since a server that has just started is slow."""
    from neo4j import AsyncGraphDatabase

    auth = (server.get("NEO4J_USERNAME") or "neo4j", server.get("NEO4J_PASSWORD") or "")
    driver = AsyncGraphDatabase.driver(server.get("NEO4J_URI") or "", auth=auth)
    database = runner.run(open_database("neo4j", server, run_id="bench"))
    warm_up = generate_graph(spec_of(1_000), SEED, 0)
    seconds = Pair()
    try:
        for number, loaded in enumerate([warm_up, *[graph] * repetitions]):
            ours, raw = partial(database.load, loaded), partial(_load_raw, driver, list(_raw_statements(loaded)))
            pair = in_turns(lambda: runner.run(ours()), lambda: runner.run(raw()), 1)  # noqa: B023 - called at once
            runner.run(_forget(driver, database, loaded))
            if number:
                seconds.ours += pair.ours
                seconds.plain += pair.plain
    finally:
        runner.run(database.close())
        runner.run(driver.close())
    return Row(f"load {_size(graph.node_count)} into Neo4j ÷ raw UNWIND", "s", seconds.ours, seconds.plain)


async def _load_raw(driver: Any, statements: list[Statement]) -> None:
    await driver.execute_query("CREATE CONSTRAINT graphwalk_bench FOR (n:GraphWalkBench) REQUIRE n.key IS UNIQUE")
    async with driver.session() as session:
        for cypher, rows in statements:
            await (await session.run(cypher, rows=rows)).consume()


async def _forget(driver: Any, database: Database, graph: PropertyGraph) -> None:
    """Remove both."""
    await (await database.load(graph)).drop()
    async with driver.session() as session:
        await (await session.run(_DELETE)).consume()
    await driver.execute_query("DROP CONSTRAINT graphwalk_bench")


def _raw_statements(graph: PropertyGraph) -> Iterator[Statement]:
    for labels, rows in node_batches(graph, BATCH):
        yield f"UNWIND $rows AS row CREATE (n:{labels[0]}:GraphWalkBench) SET n = row", rows
    for type_, _, rows in relationship_batches(graph, BATCH):
        match = "MATCH (a:GraphWalkBench {key: row.s}) MATCH (b:GraphWalkBench {key: row.t})"
        yield f"UNWIND $rows AS row {match} CREATE (a)-[r:{type_}]->(b) SET r = row.p", rows


def _size(nodes: int) -> str:
    return f"{nodes:,} nodes, {int(nodes * MEAN_DEGREE):,} relationships"
