import asyncio
import itertools
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphwalk.errors import ConfigError, StoreError
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.transfer import node_batches, relationship_batches
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from tests.stores.any_graph import any_graphs


@given(any_graphs(), st.integers(1, 5), st.booleans())
@settings(deadline=None, max_examples=40)
def test_batches_hold_the_graph(graph: PropertyGraph, size: int, by_pair: bool) -> None:
    label_of = {node.key: node.label for node in graph.nodes()}
    rows = {row["key"]: (b.labels, len(row)) for b in node_batches(graph, size) for row in b.rows}
    assert rows == {n.key: (n.labels, 1 + len(n.properties)) for n in graph.nodes()}
    batches = list(relationship_batches(graph, size, by_pair=by_pair))
    assert all(0 < len(batch.rows) <= size for batch in batches)
    for batch in batches:
        assert batch.pair is None or {(label_of[r["s"]], label_of[r["t"]]) for r in batch.rows} == {batch.pair}
    loaded = [(b.type, r["s"], r["t"], repr(sorted(r["p"].items()))) for b in batches for r in b.rows]
    assert sorted(loaded) == sorted(
        (r.type, r.source, r.target, repr(sorted(r.properties.items()))) for r in graph.relationships()
    )


def ring(nodes: int) -> PropertyGraph:
    keys = [f"k{i}" for i in range(nodes)]
    pairs = [(k, keys[(i + step) % nodes]) for i, k in enumerate(keys) for step in (1, 2, 3)]
    return PropertyGraph.from_rows([Node(k, ("A",), {}) for k in keys], [Relationship("R", a, b, {}) for a, b in pairs])


async def test_a_long_query_ends_in_time_and_lets_others_run() -> None:
    store = await EmbeddedDatabase(timeout_seconds=0.5).load(ring(3000))
    walk = asyncio.create_task(store.run("MATCH (a:A)-[*1..9]->(b:A)-->(c) RETURN count(*) AS n"))
    turns = 0
    while not walk.done():
        await asyncio.sleep(0.01)
        turns += 1
    with pytest.raises(StoreError, match=r"longer than 0\.5 s"):
        await walk
    assert turns > 1


async def test_unknown_label_writes_nothing_to_stderr(capfd: pytest.CaptureFixture[str]) -> None:
    store = await EmbeddedDatabase().load(ring(3))
    assert await store.run("MATCH (n:Nosuch) RETURN n") == []
    assert capfd.readouterr().err == ""


async def test_a_dropped_graph_answers_no_more() -> None:
    store = await EmbeddedDatabase().load(ring(3))
    await store.drop()
    with pytest.raises(StoreError, match="dropped"):
        await store.run("RETURN 1 AS one")


@pytest.mark.parametrize("length", ["*", "*1..", ":NEXT*", "r:NEXT* {n: 1}", "*.."])
async def test_a_path_without_an_upper_bound_is_refused(length: str) -> None:
    """kglite would end it after ten relationships without a word; bounded paths are walked in full."""
    keys = [f"k{number}" for number in range(31)]
    steps = [Relationship("NEXT", one, other, {}) for one, other in itertools.pairwise(keys)]
    store = await EmbeddedDatabase().load(PropertyGraph.from_rows([Node(key, ("Link",), {}) for key in keys], steps))
    query = "MATCH (a:Link {key: 'k0'})-[%s]->(b) RETURN count(*) AS n"
    assert await store.run(query % "*1..") == [{"n": 10}], "kglite has been mended: take the refusal out"
    assert await store.run(store.render(query % "*1..30", {})) == [{"n": 30}]
    with pytest.raises(ConfigError, match="after ten relationships") as refused:
        store.render(query % length, {})
    assert "-[*1..20]->" in refused.value.hint


@pytest.mark.parametrize("text", ["[*2]", "[*..3]", "[r:A*2..5 {n: 1}]", "[]"])
async def test_other_stars_and_paths_are_none(text: str) -> None:
    graph = PropertyGraph.from_rows([Node("k", ("Link",), {})], [])
    store = await EmbeddedDatabase().load(graph)
    query = f"MATCH (a)-{text}->(b) RETURN count(*) - [2*3][0] - 1 AS n"
    assert store.render(query, {}) == query


LONG_QUERY = """
import asyncio, os, signal, threading
from graphwalk.terminal.signals import Interrupted, run_async
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.types.graph import Node, PropertyGraph

async def work():
    store = await EmbeddedDatabase().load(PropertyGraph.from_rows([Node(f"k{i}", ("A",), {"n": i}) for i in range(3000)], []))
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    await store.run("MATCH (a:A), (b:A), (c:A) WHERE a.n + b.n + c.n = -1 RETURN count(*) AS many")

try:
    run_async(work(), STOPPED)
except Interrupted as interrupted:
    print(interrupted, interrupted.exit_code)
"""


@pytest.mark.parametrize("stopped", ["", "stopped, and said so"])
def test_ctrl_c_in_the_middle_of_a_query_is_meant_for_the_whole_work(stopped: str) -> None:
    """The engine takes SIGINT for itself as long as it works."""
    words = [sys.executable, "-c", LONG_QUERY.replace("STOPPED", repr(stopped))]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.stdout, ended.stderr) == ("SIGINT 130\n", f"SIGINT: {stopped}\n" if stopped else "")
