"""The twelve questions about one graph, worked out in one process, and side by side in two that share nothing.

    python -m benchmarks.divided_planning [NODES]

Seconds from the start of the processes until all is planned, in turns, and the most memory of all together. Every
process makes the graph, loads and indexes it; what is planned after loading tells what handing it over could save.
"""

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import time
from contextlib import ExitStack
from statistics import median
from typing import NamedTuple

from benchmarks.graphs import SEED, spec_of
from graphwalk.graphs.generate import generate_graph
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.questions.catalogue import choose_kinds, shipped_kinds
from graphwalk.suites.questions.generate import tasks_in

NODES = 100_000
REPETITIONS = 3
SHARE = ("node_by_property", "node_count", "relationship_by_property")
"""Take about half of the time; the other nine take the other half."""


class Planned(NamedTuple):
    """Wall seconds until the graph is loaded and until all is planned, and the most memory, in GB."""

    loaded: float
    planned: float
    memory: float


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.divided_planning", description=__doc__)
    parser.add_argument("nodes", nargs="?", type=int, default=NODES)
    parser.add_argument("--questions", nargs="+", metavar="NAME", help="plan these, and say what it took")
    options = parser.parse_args()
    if options.questions:
        print(json.dumps(asyncio.run(_plan(options.nodes, options.questions))))
        return
    every = list(shipped_kinds())
    ways = {"one process": [every], "two": [list(SHARE), [name for name in every if name not in SHARE]]}
    taken: dict[str, list[Planned]] = {way: [] for way in ways}
    for _ in range(REPETITIONS):
        for way, shares in ways.items():
            taken[way].append(side_by_side(options.nodes, shares))
            print(f"{way}: {taken[way][-1]}", flush=True)
    one, two = (median(each.planned for each in taken[way]) for way in ways)
    print(f"two ÷ one, medians of {REPETITIONS}: {two / one:.2f}")


def side_by_side(nodes: int, shares: list[list[str]]) -> Planned:
    """What the slowest of the processes took, and all of them in memory."""
    begun = time.perf_counter()
    with ExitStack() as stack:
        words = [sys.executable, "-m", "benchmarks.divided_planning", str(nodes), "--questions"]
        processes = [
            stack.enter_context(subprocess.Popen([*words, *share], stdout=subprocess.PIPE, text=True))
            for share in shares
        ]
        each = [Planned(*json.loads(process.communicate()[0])) for process in processes]
    taken = time.perf_counter() - begun
    return Planned(max(one.loaded for one in each), taken, sum(one.memory for one in each))


async def _plan(nodes: int, questions: list[str]) -> Planned:
    begun = time.perf_counter()
    graph = generate_graph(spec_of(nodes), SEED, 0)
    store = await EmbeddedDatabase().load(graph)
    loaded = time.perf_counter() - begun
    await tasks_in(graph, store, choose_kinds(questions), seed=SEED)
    return Planned(loaded, time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)


if __name__ == "__main__":
    main()
