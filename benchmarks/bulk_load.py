"""A graph into an empty Neo4j by its own importer, tool calls on it that find their node by the index, its removal.

Starts a server of its own, in a temporary folder, and removes it. Each step once: of a million nodes it takes minutes.
"""

import argparse
import asyncio
import json
import os
import time
from statistics import median

from benchmarks.graphs import SEED, spec_of
from benchmarks.servers import own_server
from graphwalk import database
from graphwalk.graphs.generate import generate_graph
from graphwalk.settings import Settings
from graphwalk.stores.neo4j.loaded import Neo4jDatabase
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.types.chat import ToolCall
from graphwalk.types.graph import PropertyGraph

CALLS = 2000
SHARE = 200
"""So many calls at the beginning and at the end are told: Java gets faster over the first thousand."""


async def measure(nodes: int, settings: Settings, *, ordinary: bool) -> None:
    graph = generate_graph(spec_of(nodes), SEED, 0)
    begun = last = time.perf_counter()
    doing = "looking"

    def tell(step: str) -> None:
        nonlocal last, doing
        now = time.perf_counter()
        print(f"{now - last:8.1f} s  {doing}", flush=True)
        last, doing = now, step

    await database.load_bulk(settings, graph, tell=tell)
    tell("")
    print(f"{last - begun:8.1f} s  in all, {nodes:,} nodes, {graph.relationship_count:,} relationships", flush=True)
    await _calls(graph, settings)
    begun = time.perf_counter()
    await database.clean(settings, kept=True)
    print(f"{time.perf_counter() - begun:8.1f} s  removing in batches", flush=True)
    if ordinary:
        begun = time.perf_counter()
        await database.load(settings, graph)
        print(f"{time.perf_counter() - begun:8.1f} s  loading in batches", flush=True)


async def _calls(graph: PropertyGraph, settings: Settings) -> None:
    """Milliseconds of a tool call on the graph that was loaded."""
    opened = await Neo4jDatabase.open(settings, run_id="bench", timeout_seconds=120.0)
    store = await opened.load(graph)
    toolbox = GraphToolbox(store, await store.schema())
    taken = []
    for turn in range(CALLS):
        table = graph.node_tables[turn % len(graph.node_tables)]
        node = int(table.numbers[turn * 7919 % len(table.numbers)])
        given = {"label": table.label, "property_name": "key", "property_value": graph.keys[node]}
        begun = time.perf_counter()
        result = await toolbox.call(ToolCall(str(turn), "get_all_nearest_neighbors", json.dumps(given)))
        taken.append(1e3 * (time.perf_counter() - begun))
        assert result.error is None
    for name, share in (("first", sorted(taken[:SHARE])), ("last", sorted(taken[-SHARE:]))):
        told = f"{median(share):8.2f} ms a tool call by index (95 %: {share[int(0.95 * SHARE)]:.2f} ms)"
        print(f"{told}, the {name} {SHARE} of {CALLS:,}", flush=True)
    await opened.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bulk_load", description=__doc__)
    parser.add_argument("nodes", nargs="*", type=int, default=[10_000, 100_000])
    parser.add_argument("--release", default="5.26")
    parser.add_argument("--heap", default="2g", help="memory of Java")
    parser.add_argument("--ordinary", action="store_true", help="load in batches afterwards, to compare")
    options = parser.parse_args()
    for nodes in options.nodes:
        with own_server(options.release, options.heap) as settings:
            asyncio.run(measure(nodes, settings, ordinary=options.ordinary))
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
