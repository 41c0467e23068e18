"""Queries of models run in worker processes, which a query may end without harm to the program (P5, P6, P7)."""

import asyncio
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from graphwalk.errors import StoreError, ToolMistake
from graphwalk.graphs.graph import Node, PropertyGraph, Relationship
from graphwalk.stores import query_pool
from graphwalk.stores.embedded import EmbeddedDatabase, EmbeddedStore
from graphwalk.stores.query_pool import MOST_WORKERS, GraphQueries
from graphwalk.stores.query_worker import _answer

LONG = "MATCH (a:A), (b:A), (c:A) WHERE a.n + b.n + c.n = -1 RETURN count(*) AS many"
LARGE = "WITH 'aaaaaaaaaa' AS s " + "WITH replace(s, 'a', s) AS s " * 6 + "RETURN size(s) AS n"
COUNT = "MATCH (a:A) RETURN count(*) AS n"


def graph(nodes: int = 3000, first: int = 0) -> PropertyGraph:
    keys = [f"k{number}" for number in range(nodes)]
    rows = [Node(key, ("A",), {"n": first + number}) for number, key in enumerate(keys)]
    return PropertyGraph.from_rows(rows, [Relationship("R", keys[0], keys[-1], {"weight": 0.1})])


def workers() -> list[psutil.Process]:
    return [one for one in psutil.Process().children() if "query_worker.py" in " ".join(one.cmdline())]


async def mistake(store: EmbeddedStore, query: str, seconds: float) -> tuple[str, str]:
    with pytest.raises(ToolMistake) as refused:
        await store.ask(query, seconds=seconds, rows=10)
    return refused.value.kind, refused.value.message


async def until_busy(process: psutil.Process) -> None:
    """Wait until a worker computes for a query."""

    def wait() -> None:
        before = process.cpu_times().user
        while process.cpu_times().user < before + 0.2:
            time.sleep(0.02)

    await asyncio.to_thread(wait)


@pytest.mark.skipif(sys.platform != "linux", reason="no other system holds a limit of memory")
@pytest.mark.parametrize(
    "query", [LARGE, "UNWIND range(1, 5000) AS a UNWIND range(1, 5000) AS b RETURN collect([a, b]) AS pairs"]
)
async def test_a_query_that_takes_too_much_memory_is_the_models_mistake(
    query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query_pool, "MEMORY", 1 << 26)
    async with EmbeddedDatabase() as database:
        store = await database.load(graph(5))
        assert await mistake(store, query, 60) == ("too_large", "query_memory")
        assert (await store.ask(COUNT, seconds=60, rows=10)).rows == [{"n": 5}]


async def test_a_result_that_is_too_long_to_be_read_is_the_models_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_pool, "LONGEST_ANSWER", 1000)
    async with EmbeddedDatabase() as database:
        store = await database.load(graph(5))
        assert await mistake(store, f"RETURN {'x' * 1000!r} AS text", 60) == ("too_large", "query_too_large")


async def test_a_long_query_ends_in_time() -> None:
    async with EmbeddedDatabase() as database:
        store = await database.load(graph())
        assert await mistake(store, LONG, 0.5) == ("timeout", "query_timeout")


async def test_others_run_beside_a_long_query_and_its_process_ends_when_it_is_cancelled() -> None:
    async with EmbeddedDatabase() as database:
        store = await database.load(graph())
        await store.ask(COUNT, seconds=60, rows=10)
        (process,) = workers()
        long = asyncio.create_task(store.ask(LONG, seconds=600, rows=10))
        await until_busy(process)
        assert (await store.ask(COUNT, seconds=60, rows=10)).rows == [{"n": 3000}]
        assert not long.done()
        long.cancel()
        with pytest.raises(asyncio.CancelledError):
            await long
        assert not process.is_running()
        assert (await store.ask(COUNT, seconds=60, rows=10)).rows == [{"n": 3000}]


async def test_a_process_that_something_else_ends_is_no_mistake_of_the_model() -> None:
    async with EmbeddedDatabase() as database:
        store = await database.load(graph(200))
        await store.ask(COUNT, seconds=60, rows=10)
        (idle,) = workers()
        idle.kill()
        assert (await store.ask(COUNT, seconds=60, rows=10)).rows == [{"n": 200}]
        (other,) = workers()
        numbers = "UNWIND range(1, 2000000) AS n RETURN count(n) AS many"
        query = asyncio.create_task(store.ask(numbers, seconds=600, rows=10))
        await until_busy(other)
        other.kill()
        assert (await query).rows == [{"many": 2000000}]
        assert workers() != [other]


async def test_many_queries_on_many_graphs_share_a_few_processes() -> None:
    async with EmbeddedDatabase() as database:
        stores = [await database.load(graph(5, first)) for first in range(MOST_WORKERS + 2)]
        asked = [(place, store) for place, store in enumerate(stores) for _ in range(6)]
        query = "MATCH (a:A {key: 'k0'}) RETURN a.n AS n"
        results = await asyncio.gather(*(store.ask(query, seconds=60, rows=10) for _, store in asked))
        assert [result.rows for result in results] == [[{"n": place}] for place, _ in asked]
        assert 0 < len(workers()) <= MOST_WORKERS
        await stores[-1].drop()
        with pytest.raises(StoreError, match="dropped"):
            await stores[-1].ask(query, seconds=60, rows=10)
    assert workers() == []


SCRIPT = """
import asyncio
from graphwalk.stores.embedded import EmbeddedDatabase
from tests.stores.test_query_pool import COUNT, LONG, graph, workers

async def work():
    store = await EmbeddedDatabase().load(graph())
    await store.ask(COUNT, seconds=60, rows=10)
    print(workers()[0].pid, flush=True)
    await store.ask(LONG, seconds=600, rows=10)

asyncio.run(work())
"""


def test_a_process_ends_with_its_parent_in_the_middle_of_a_query(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    environment = {"PYTHONPATH": str(Path(__file__).parents[2])}
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, env=environment)
    with parent:
        assert parent.stdout is not None
        process = psutil.Process(int(parent.stdout.readline()))
        asyncio.run(until_busy(process))
        parent.kill()
    psutil.wait_procs([process], timeout=60)
    assert not process.is_running()


async def test_a_panic_of_the_engine_ends_the_call_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        """As the engine raises it."""

    class Engine:
        def cypher(self, *query: Any, **more: Any) -> None:
            raise PanicException("index out of bounds")

    answer = _answer(Engine(), {"cypher": "", "milliseconds": 1, "rows": 1})
    assert answer == {"error": "failed", "problem": "PanicException: index out of bounds"}
    async with EmbeddedDatabase() as database:
        store = await database.load(graph(5))

        async def failed(*query: Any, **more: Any) -> dict[str, Any]:
            return answer

        monkeypatch.setattr(GraphQueries, "answer", failed)
        with pytest.raises(RuntimeError, match="index out of bounds"):
            await store.ask(COUNT, seconds=60, rows=10)
        monkeypatch.setattr(store, "_engine", Engine())
        with pytest.raises(RuntimeError, match="index out of bounds"):
            await store.run(COUNT)
