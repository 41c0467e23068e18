"""Measure which share of the questions drawn as in the paper the conditions of `graphwalk` reject."""

import asyncio

from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.seeds import stdlib_random
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.questions.catalogue import shipped_kinds
from graphwalk.suites.questions.graph_index import GraphIndex
from graphwalk.suites.questions.parameters import ParameterSearch, is_worth_asking

GRAPHS, CHOICES = 10, 40


async def main() -> None:
    """Print a row for each kind of question: 40 choices on each of ten graphs of the preset paper-100."""
    rejected = dict.fromkeys(shipped_kinds(), 0)
    for number in range(GRAPHS):
        graph = generate_graph(GraphSpec(preset="paper-100"), 0, number)
        embedded = await EmbeddedDatabase().load(graph)
        search = ParameterSearch(GraphIndex(graph), embedded, "answerable")
        for name, kind in shipped_kinds().items():
            random = stdlib_random(0, "drawing", graph.digest, name)
            for _ in range(CHOICES):
                question, rows = await search.draw(kind, random)
                rejected[name] += not await is_worth_asking(question, rows, embedded)
    print("| question | rejected |\n| --- | --- |")
    for name, count in sorted(rejected.items(), key=lambda pair: -pair[1]):
        print(f"| `{name}` | {count / (GRAPHS * CHOICES):.0%} |")


if __name__ == "__main__":
    asyncio.run(main())
