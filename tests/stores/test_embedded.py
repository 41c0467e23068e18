import asyncio
import itertools
import subprocess
import sys

import pytest
from hypothesis import given, settings

from graphwalk.errors import ConfigError, StoreError
from graphwalk.stores import embedded_graph
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from tests.stores.any_graph import any_graphs, comes_back, is_found_as_shown


@settings(deadline=None, max_examples=100)
@given(any_graphs())
def test_any_graph_comes_back_as_it_went_in_and_what_tools_show_is_found(graph: PropertyGraph) -> None:
    async def check() -> None:
        store = await EmbeddedDatabase().load(graph)
        await comes_back(store, graph)
        await is_found_as_shown(store, graph)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embedded_graph, "BATCH", 2)
        asyncio.run(check())


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
    for other in ("[*2]", "[*..3]", "[r:A*2..5 {n: 1}]", "[]"):
        query = f"MATCH (a)-{other}->(b) RETURN count(*) - [2*3][0] - 1 AS n"
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
