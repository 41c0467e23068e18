"""A Neo4j as it stands, with a million nodes that nobody made for us: opening it, its schema, and tool calls by scan.

Starts a server of its own, in a temporary folder, fills it by Neo4j's importer, and removes it. There is no index, a
firm has made films without end, and the first schema is read right after the start of the server.
"""

import argparse
import asyncio
import json
import os
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.servers import own_server
from graphwalk.config.agent import foreign_agent
from graphwalk.config.graph_source import GraphSource
from graphwalk.database.loads import import_files
from graphwalk.graphs.formats.common import write_lines
from graphwalk.seeds import generator
from graphwalk.settings import Settings
from graphwalk.stores.sources import open_source
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.types.chat import ToolCall

TIMES = 7
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "a node by a value": ("get_node_by_property", {"label": "Film", "property_name": "title", "property_value": "F7"}),
    "nodes by a value": ("get_node_by_property", {"label": "Person", "property_name": "city", "property_value": "C7"}),
    "neighbors of a node": (
        "get_all_nearest_neighbors",
        {"label": "Person", "property_name": "id", "property_value": "p5"},
    ),
    "neighbors of the hub": (
        "get_all_nearest_neighbors",
        {"label": "Firm", "property_name": "id", "property_value": "c0"},
    ),
    "some 80 values of nodes": (
        "get_unique_property_values",
        {"property_name": "age", "entity_name": "Person", "entity_type": "node"},
    ),
    "values of relationships": (
        "get_unique_property_values",
        {"property_name": "role", "entity_name": "ACTED_IN", "entity_type": "relationship"},
    ),
}


def write_files(nodes: int, folder: Path) -> list[str]:
    """People, films and firms as CSV for the importer, five relationships per node; the importer's arguments."""
    random = generator(7, "standing")
    people, films, firms = nodes * 6 // 10, nodes * 3 // 10, nodes // 10

    def drawn(count: int, *below: int) -> Iterator[list[int]]:
        return iter(random.integers(below, size=(count, len(below))).tolist())

    files: dict[str, tuple[str, Iterator[str]]] = {
        "people": (
            "id:ID,name:string,born:date,age:int,city:string,:LABEL",
            (
                f"p{n},P{n},{1920 + year}-05-01,{age},C{city},{_labels(n)}"
                for n, (year, age, city) in enumerate(drawn(people, 80, 80, 5000))
            ),
        ),
        "films": ("id:ID,title:string,released:int,:LABEL", (f"f{n},F{n},{1900 + n % 120},Film" for n in range(films))),
        "firms": ("id:ID,name:string,:LABEL", (f"c{n},N{n},Firm" for n in range(firms))),
        "acted": (
            ":START_ID,:END_ID,role:string,:TYPE",
            (f"p{a},f{b},R{role},ACTED_IN" for a, b, role in drawn(nodes * 5 // 2, people, films, 1000)),
        ),
        "knows": (
            ":START_ID,:END_ID,since:int,:TYPE",
            (f"p{a},p{b},{1980 + years},KNOWS" for a, b, years in drawn(nodes * 2, people, people, 40)),
        ),
        "made": (":START_ID,:END_ID,:TYPE", (f"c{_maker(n, firms)},f{n % films},MADE" for n in range(nodes // 2))),
    }
    for name, (title, lines) in files.items():
        write_lines(folder / f"{name}.csv", chain([title], lines))
    return [f"--{'nodes' if ':LABEL' in title else 'relationships'}={name}.csv" for name, (title, _) in files.items()]


def _labels(person: int) -> str:
    return "Person;Actor" if person % 7 == 0 else "Person"


def _maker(film: int, firms: int) -> int:
    """Two films of five are made by the hub."""
    return 0 if film % 5 < 2 else film % firms


async def measure(settings: Settings) -> None:
    for when in ("the first time", "then"):
        begun = time.perf_counter()
        async with open_source(GraphSource(neo4j="neo4j"), settings) as opened:
            there = time.perf_counter()
            agent = foreign_agent()
            schema = await opened.store.schema(agent.schema_samples)
            done = time.perf_counter()
            print(f"{when}: opened in {there - begun:.2f} s, schema in {done - there:.2f} s", flush=True)
            if when == "then":
                await _calls(GraphToolbox(opened.store, schema, agent=agent))


async def _calls(toolbox: GraphToolbox) -> None:
    for name, (tool, given) in CALLS.items():
        taken = []
        for turn in range(TIMES):
            begun = time.perf_counter()
            result = await toolbox.call(ToolCall(str(turn), tool, json.dumps(given)))
            taken.append(1e3 * (time.perf_counter() - begun))
            assert result.error is None, result.content
        print(f"{median(taken):8.0f} ms  {name}: {result.rows:,} rows, first page {len(result.content):,} characters")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.standing_graph", description=__doc__)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--release", default="5.26")
    parser.add_argument("--heap", default="2g", help="memory of Java")
    options = parser.parse_args()
    with own_server(options.release, options.heap) as settings:
        with TemporaryDirectory(prefix="graphwalk-bench-") as files:
            import_files(settings, Path(files), write_files(options.nodes, Path(files)))
        asyncio.run(measure(settings))
    print(f"{options.nodes:,} nodes, {options.release}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
