"""How many rows the right answers of drawn questions have, by preset and kind."""

import argparse
import asyncio
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import median

from graphwalk.graphs.generate import GRAPH_PRESETS, GraphSpec, generate_graph
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.questions.catalogue import choose_kinds, shipped_kinds
from graphwalk.suites.questions.generate import make_tasks

ONE_ROW = ("node_count", "relationship_count")


async def answer_sizes(preset: str, graphs: int, per_question: int, seed: int = 0) -> Mapping[str, Sequence[int]]:
    """Question → rows of each answer; those that are always one are left out."""
    kinds = choose_kinds([name for name in shipped_kinds() if name not in ONE_ROW])
    sizes: defaultdict[str, list[int]] = defaultdict(list)
    for index in range(graphs):
        graph = generate_graph(GraphSpec(preset=preset), seed, index)
        store = await EmbeddedDatabase().load(graph)
        for task in await make_tasks(graph, store, seed=seed, kinds=kinds, per_question=per_question):
            sizes[task.template].append(task.gold_size)
    return sizes


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.answer_sizes", description=__doc__)
    parser.add_argument("presets", nargs="*", default=["paper-100", "paper-500"], help=", ".join(GRAPH_PRESETS))
    parser.add_argument("--graphs", type=int, default=10)
    parser.add_argument("--per-question", type=int, default=5, help="tasks of a kind on one graph")
    options = parser.parse_args()
    for preset in options.presets:
        begun = time.perf_counter()
        sizes = asyncio.run(answer_sizes(preset, options.graphs, options.per_question))
        print(f"{preset}: {options.graphs} graphs, {time.perf_counter() - begun:.1f} s")
        print(f"  {'question':<28} {'tasks':>5} {'least':>6} {'median':>7} {'most':>6}")
        for name, rows in sizes.items():
            print(f"  {name:<28} {len(rows):>5} {min(rows):>6} {median(rows):>7.1f} {max(rows):>6}")


if __name__ == "__main__":
    main()
