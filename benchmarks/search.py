"""Search for nodes in a graph of 100,000 nodes in memory: the first call, and the median of later ones."""

import asyncio
from collections.abc import Iterator

from benchmarks.measure import Row, seconds_of
from graphwalk.seeds import stdlib_random
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.types.graph import Node, PropertyGraph, Relationship

SYLLABLES = ("ka", "lo", "mi", "ner", "tos", "val", "ing", "brun", "sta", "ko", "re", "du", "fen", "gar", "hol")
SEED = 7


def measure(quick: bool) -> Iterator[Row]:
    """Seconds of the first call, which builds the index, and of later ones in each way to match."""
    graph = names_graph(5_000 if quick else 100_000)
    names = [str(node.properties["name"]) for node in graph.nodes()][:: graph.node_count // 5]
    with asyncio.Runner() as runner:
        store = runner.run(EmbeddedDatabase().load(graph))

        def seconds(text: str) -> float:
            return seconds_of(lambda: runner.run(store.search(text)))

        yield Row("first search among 100,000 nodes", ours=[seconds(names[0])], aim=1.0)
        texts = [text for name in names for text in _texts(name)]
        yield Row("later search among 100,000 nodes", ours=list(map(seconds, texts)), aim=0.05)


def names_graph(nodes: int) -> PropertyGraph:
    """Return people and firms with names of three words, and cities."""
    draw = stdlib_random(SEED, "search")

    def word() -> str:
        return "".join(draw.choice(SYLLABLES) for _ in range(draw.randint(2, 4))).capitalize()

    rows = [
        Node(f"n{n}", ("Person" if n % 2 else "Firm",), {"name": f"{word()} {word()} {word()}", "city": word()})
        for n in range(nodes)
    ]
    links = [Relationship("KNOWS", f"n{n}", f"n{n * 7 % nodes}", {}) for n in range(nodes)]
    return PropertyGraph.from_rows(rows, links)


def _texts(name: str) -> Iterator[str]:
    """Yield a name in each way to match, and a text that nothing is like."""
    words = name.split()
    yield from (name, name.upper(), name[:9], " ".join(reversed(words)), name[3:20], name[:4] + name[5:], "zzzzzzzz")
