"""Killed processes, restarted servers, and many runs on one Neo4j (R21 to R26)."""

import asyncio
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graphwalk import database
from graphwalk.errors import StoreError
from graphwalk.stores.graph_schema import schema_of
from graphwalk.stores.neo4j import admin
from graphwalk.stores.neo4j.admin import BY_HAND
from graphwalk.stores.neo4j.loaded import Neo4jDatabase, scope_of
from graphwalk.variables import Variables
from tests.cli.test_commands import graphwalk as graphwalk_command
from tests.stores.loader import chain

pytestmark = pytest.mark.neo4j
ROOT = Path(__file__).parents[2]
NODES = 1_000


@pytest.fixture
def run_id() -> str:
    return f"test-{uuid.uuid4().hex}"


@pytest.fixture
async def opened(neo4j_server: Variables, run_id: str) -> AsyncIterator[Neo4jDatabase]:
    neo4j = await Neo4jDatabase.open(neo4j_server, run_id=run_id)
    yield neo4j
    for load in await neo4j.loads():
        if load.run_id.startswith(run_id):
            await neo4j.drop(load.scope)
    await neo4j.close()


def start_loader(variables: Variables, run_id: str, nodes: int = NODES) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "tests.stores.loader", run_id, str(nodes)],
        cwd=ROOT,
        env={**os.environ, **variables.values},
        stdout=subprocess.PIPE,
        text=True,
    )


async def scope_count(neo4j: Neo4jDatabase, scope: str) -> tuple[int, int]:
    (nodes,) = await neo4j._connection.write(f"MATCH (n:`{scope}`) RETURN count(n) AS n")
    (relationships,) = await neo4j._connection.write(f"MATCH (:`{scope}`)-[r]->() RETURN count(r) AS n")
    return nodes["n"], relationships["n"]


async def killed_half_way(opened: Neo4jDatabase, variables: Variables, run_id: str) -> str:
    scope = scope_of(run_id, chain(NODES).digest)
    with start_loader(variables, run_id) as loader:
        for _ in range(3000):
            if (await scope_count(opened, scope))[0] > 100:
                break
            await asyncio.sleep(0.02)
        loader.send_signal(signal.SIGKILL)
    nodes, relationships = await scope_count(opened, scope)
    assert nodes < NODES or relationships < 2 * (NODES - 1), "the load was over before it was killed"
    return scope


async def test_a_load_killed_half_way_is_begun_anew(
    opened: Neo4jDatabase, neo4j_server: Variables, run_id: str
) -> None:
    scope = await killed_half_way(opened, neo4j_server, run_id)
    store = await opened.load(chain(NODES))
    assert store.scope == scope
    assert await scope_count(opened, scope) == (NODES, 2 * (NODES - 1))
    assert await store.schema() == schema_of(chain(NODES))


async def test_clean_removes_what_a_killed_run_left_and_nothing_else(
    opened: Neo4jDatabase, neo4j_server: Variables, run_id: str, tmp_path: Path
) -> None:
    await opened._connection.write("CREATE (:Canary {key: $run})-[:SINGS]->(:Canary {key: $run})", run=run_id)
    living = await opened.load(chain(10))
    dead = await killed_half_way(opened, neo4j_server, run_id + "-killed")
    other = await Neo4jDatabase.open(neo4j_server, run_id=run_id + "-kept")
    kept = await other.load(chain(20))
    await other.close()
    assert dead not in {load.scope for load in await opened.clean()}
    shown = graphwalk_command("db", "clean", "--dry-run", folder=tmp_path, **neo4j_server.values)
    assert dead not in shown.stdout
    assert "in use, or left by a run killed less than five minutes ago" in shown.stderr
    await expire(opened, dead)
    scopes = {load.scope for load in await opened.clean()}
    assert dead in scopes
    assert not {living.scope, kept.scope} & scopes
    assert await scope_count(opened, dead) == (0, 0)
    assert kept.scope in {load.scope for load in await opened.clean(kept=True)}
    assert await scope_count(opened, living.scope) == (10, 18)
    removed = await opened._connection.write(
        "MATCH (n:Canary {key: $run}) DETACH DELETE n RETURN count(n) AS n", run=run_id
    )
    assert removed == [{"n": 2}]
    names = {row["name"] for row in await opened._connection.write("SHOW CONSTRAINTS YIELD name RETURN name")}
    assert living.scope in names
    assert not {dead, kept.scope} & names


@pytest.mark.extended
async def test_processes_load_at_the_same_time(opened: Neo4jDatabase, neo4j_server: Variables, run_id: str) -> None:
    runs = [run_id, run_id + "-2", run_id + "-3"]
    loaders = [start_loader(neo4j_server, name, 100) for name in runs]
    for loader in loaders:
        assert loader.stdout is not None
        assert await asyncio.to_thread(loader.stdout.readline) == "loaded\n"
    digest = chain(100).digest
    assert [await scope_count(opened, scope_of(name, digest)) for name in runs] == [(100, 198)] * 3
    for loader in loaders:
        loader.kill()
        loader.communicate()


async def test_graph_that_another_process_is_loading_is_refused_and_clean_all_removes_it(
    neo4j_server: Variables,
) -> None:
    graph = chain(77)
    neo4j = await Neo4jDatabase.open(neo4j_server, run_id=BY_HAND)
    entry = await neo4j._loads._enter(graph, scope_of(BY_HAND, graph.digest), BY_HAND)
    neo4j._loads.prepared = True
    try:
        with pytest.raises(StoreError, match="another process is loading") as raised:
            await database.load(neo4j_server, graph)
        assert raised.value.hint.endswith("if it was killed: graphwalk db clean --all")
        assert entry.scope not in {load.scope for load in await database.clean(neo4j_server)}
        assert entry.scope in {load.scope for load in await database.clean(neo4j_server, kept=True)}
        with pytest.raises(StoreError, match="another process took over"):
            await neo4j._loads._fill(graph, entry.scope)
        assert await scope_count(neo4j, entry.scope) == (0, 0)
    finally:
        await neo4j.close()
    loaded = await database.load(neo4j_server, graph)
    assert (loaded.scope, loaded.state) == (entry.scope, "complete")
    assert entry.scope in {load.scope for load in await database.clean(neo4j_server, kept=True)}


async def test_clean_all_that_leaves_a_graph_in_use_fails(
    opened: Neo4jDatabase, neo4j_server: Variables, tmp_path: Path
) -> None:
    store = await opened.load(chain(5))
    for words, code in (((), 0), (("--all", "--dry-run"), 0), (("--all",), 3)):
        done = graphwalk_command("db", "clean", *words, folder=tmp_path, **neo4j_server.values)
        assert (done.returncode, "in use, or left by a run killed" in done.stderr) == (code, True), done.stderr
    assert "graphwalk db clean --all" in done.stderr
    await store.check_unchanged(0)


async def expire(neo4j: Neo4jDatabase, scope: str) -> None:
    """Set the heartbeat of a graph back, as if its process had been gone for a while."""
    await neo4j._connection.write("MATCH (l:GraphWalkLoad {scope: $scope}) SET l.heartbeat = 1", scope=scope)


async def test_an_answer_that_got_lost_does_not_load_twice(
    opened: Neo4jDatabase, run_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every batch is sent twice, as after a connection that broke between commit and answer."""
    send = opened._connection._send

    async def twice(*sent: Any) -> Any:
        await send(*sent)
        return await send(*sent)

    monkeypatch.setattr(opened._connection, "_send", twice)
    monkeypatch.setattr(admin, "BATCH", 50)
    store = await opened.load(chain(200))
    assert await scope_count(opened, store.scope) == (200, 398)
    await store.drop()
    assert await scope_count(opened, store.scope) == (0, 0)


@pytest.mark.extended
async def test_graphs_are_loaded_and_dropped_during_a_check(opened: Neo4jDatabase) -> None:
    async def check_during(work: "asyncio.Future[Any]") -> Any:
        while not work.done():
            await opened._connection.check_content(thoroughly=False)
        return await work

    first = await opened.load(chain(2))
    stores = await check_during(asyncio.gather(*(opened.load(chain(nodes)) for nodes in range(3, 9))))
    await check_during(asyncio.gather(*(store.drop() for store in stores)))
    assert [await scope_count(opened, store.scope) for store in (first, *stores)] == [(2, 2), *[(0, 0)] * 6]


async def test_a_constraint_that_is_still_being_made_is_waited_for(opened: Neo4jDatabase, run_id: str) -> None:
    graph = chain(10)
    scope = scope_of(run_id, graph.digest)
    await opened._connection.write(f"CREATE INDEX `{scope}` FOR (n:`{scope}`) ON (n.key)")
    loading = asyncio.create_task(opened.load(graph))
    await asyncio.sleep(1)
    assert not loading.done()
    await opened._connection.write(f"DROP INDEX `{scope}`")
    await loading
    assert await scope_count(opened, scope) == (10, 18)


async def test_queries_end_in_time(opened: Neo4jDatabase) -> None:
    store = await opened.load(chain(10))
    store._timeout_seconds = 1.0
    endless = "UNWIND range(1, 1000000) AS x UNWIND range(1, 1000000) AS y RETURN count(*) AS n"
    ends = await asyncio.gather(*(store.run(endless) for _ in range(3)), return_exceptions=True)
    assert all(isinstance(end, StoreError) for end in ends)
    store._timeout_seconds = 30.0
    assert await store.run("RETURN 1 AS one") == [{"one": 1}]


async def test_reads_of_a_cluster_know_what_was_written(neo4j_server: Variables, run_id: str) -> None:
    uri = f"neo4j://{(neo4j_server.neo4j_uri or '').partition('://')[2]}"
    routed = replace(neo4j_server, values={**neo4j_server.values, "NEO4J_URI": uri})
    neo4j = await Neo4jDatabase.open(routed, run_id=run_id)
    store = await neo4j.load(chain(10))
    assert neo4j._connection.bookmarks is not None
    written = await neo4j._connection.bookmarks.get_bookmarks()
    assert written
    assert await scope_count(neo4j, store.scope) == (10, 18)
    await store.drop()
    assert set(await neo4j._connection.bookmarks.get_bookmarks()).isdisjoint(written)
    await neo4j.close()


ENTRY = {
    "scope": "gw_0123456789ab",
    "run_id": "run",
    "digest": "0" * 64,
    "nodes": 1,
    "relationships": 0,
    "state": "complete",
    "owner": "0" * 32,
    "kept": False,
    "created": 0,
    "heartbeat": 0,
}
FOREIGN: list[dict[str, Any]] = [
    {},
    {**ENTRY, "scope": "Person"},
    {**ENTRY, "scope": "gw_0123456789AB"},
    {**ENTRY, "scope": ["gw_0123456789ab"]},
    {**ENTRY, "owner": "nobody"},
    {**ENTRY, "state": "mine"},
    {**ENTRY, "created": 2**62},
    {**ENTRY, "kept": None},
]


async def test_foreign_entries_are_left_alone(opened: Neo4jDatabase, neo4j_server: Variables, run_id: str) -> None:
    """Neither is anything removed, nor does anything fail."""
    mark, connection = run_id, opened._connection
    await connection.write("UNWIND range(1, 50) AS i CREATE (:Person {mark: $mark})", mark=mark)
    try:
        for entry in FOREIGN:
            await connection.write("CREATE (l:GraphWalkLoad) SET l += $entry, l.mark = $mark", entry=entry, mark=mark)
            await database.clean(neo4j_server, kept=True)
            listed = await database.list_loads(neo4j_server)
            assert entry.get("scope", "") not in [load.scope for load in listed]
            await connection.write("MATCH (l:GraphWalkLoad {mark: $mark}) DELETE l", mark=mark)
        (left,) = await connection.write("MATCH (n:Person {mark: $mark}) RETURN count(n) AS n", mark=mark)
        assert left["n"] == 50
        await (await opened.load(chain(3))).drop()
    finally:
        await connection.write("MATCH (n {mark: $mark}) DETACH DELETE n", mark=mark)


async def test_control_characters_of_a_run_are_not_shown(neo4j_server: Variables) -> None:
    neo4j = await Neo4jDatabase.open(neo4j_server, run_id="test\x1b]0;owned\x07\n")
    store = await neo4j.load(chain(3))
    (load,) = [load for load in await neo4j.loads() if load.scope == store.scope]
    assert load.run_id == r"test\x1b]0;owned\x07\n"
    await store.drop()
    await neo4j.close()
