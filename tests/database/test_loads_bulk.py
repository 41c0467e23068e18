"""Graphs that Neo4j's own importer loads are the same as those that are loaded in batches."""

import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from neo4j import GraphDatabase

from graphwalk import database
from graphwalk.database.jars import run_importer
from graphwalk.database.loads import _write
from graphwalk.errors import ConfigError, StoreError
from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.settings import Settings
from graphwalk.stores.neo4j.admin import Loads
from graphwalk.stores.neo4j.connection import Connection, connect
from graphwalk.stores.neo4j.loaded import Neo4jDatabase
from graphwalk.stores.neo4j.local_server import LocalServer, read_state, write_state
from graphwalk.stores.transfer import content_digest
from graphwalk.types.graph import Node, PropertyGraph
from graphwalk.types.values import Value
from tests.database.rich_graph import rich_graph

ORDINARY = "gw_0123456789ab"
SMALL = generate_graph(GraphSpec(preset="paper-100"), 7)


async def kept_form(connection: Connection, scope: str) -> list[str]:
    """All nodes and relationships of a graph as the database has them, the label apart."""
    nodes = await connection.read(f"MATCH (n:{scope}) RETURN labels(n), properties(n)", {}, 30)
    found = [repr((sorted({*labels} - {scope}), sorted(properties.items()))) for _, (labels, properties) in nodes]
    joined = f"MATCH (a:{scope})-[r]->(b) RETURN type(r), a.key, b.key, properties(r)"
    rows = await connection.read(joined, {}, 30)
    found += [repr((*row, sorted(properties.items()))) for _, (*row, properties) in rows]
    return sorted(found)


async def constraints(connection: Connection) -> list[Any]:
    rows = await connection.read("SHOW CONSTRAINTS YIELD name, type, labelsOrTypes, properties", {}, 30)
    return [values for _, values in rows if values[0].startswith("gw_")]


@pytest.mark.extended
async def test_an_import_is_the_same_as_a_load(own_server: Settings) -> None:
    graph, told = rich_graph(), list[str]()
    loaded = await database.load_bulk(own_server, graph, tell=told.append)
    assert told == ["writing CSV", "stopping Neo4j", "importing", "starting Neo4j", "indexing the keys"]
    assert (loaded.nodes, loaded.relationships) == (graph.node_count, graph.relationship_count)

    again = await database.load_bulk(own_server, graph, tell=told.append)
    assert (again.scope, again.created, len(told)) == (loaded.scope, loaded.created, 5)
    assert (again.run_id, again.state) == (loaded.run_id, "complete")
    with pytest.raises(StoreError, match="not empty") as raised:
        await database.load_bulk(own_server, SMALL)
    assert "without --bulk" in raised.value.hint

    connection = await connect(own_server, wait_seconds=10)
    await Loads(connection).load(graph, ORDINARY, "test")
    assert await kept_form(connection, loaded.scope) == await kept_form(connection, ORDINARY)
    imported, ordinary = sorted(await constraints(connection), key=lambda row: row[0] == ORDINARY)
    assert imported[1] == ordinary[1]
    await connection.close()

    found = await Neo4jDatabase.open(own_server, run_id="a-run")
    store = await found.load(graph)
    assert store.scope == loaded.scope
    assert content_digest(await store.read_graph()) == content_digest(graph)
    await store.drop()
    await found.close()
    assert loaded.scope in [load.scope for load in await database.list_loads(own_server)]
    cleaned = await database.clean(own_server, kept=True)
    assert loaded.scope in [load.scope for load in cleaned]


@pytest.mark.extended
async def test_an_import_that_fails_leaves_the_server_as_it_was(
    own_server: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = await connect(own_server, wait_seconds=10)

    def write_late(step: str) -> None:
        if step == "stopping Neo4j":
            with GraphDatabase.driver(state.uri, auth=("neo4j", state.password)) as driver:
                driver.execute_query("CREATE (:Stranger)")

    state = read_state(own_server)
    assert state is not None
    with pytest.raises(StoreError, match="changed during the check"):
        await database.load_bulk(own_server, SMALL, tell=write_late)
    with pytest.raises(StoreError, match=r"not empty \(1 nodes\)"):
        await database.load_bulk(own_server, SMALL)
    await connection.write("MATCH (n:Stranger) DELETE n")
    await connection.write("CREATE INDEX mine FOR (n:Stranger) ON n.name")
    with pytest.raises(StoreError, match=r"not empty \(1 indexes\)"):
        await database.load_bulk(own_server, SMALL)
    await connection.write("DROP INDEX mine")
    await connection.close()
    monkeypatch.setattr("graphwalk.database.loads.ARGUMENTS", "no-such.args")
    with pytest.raises(StoreError, match="importer failed"):
        await database.load_bulk(own_server, SMALL)
    assert database.status(own_server).answers
    assert await database.list_loads(own_server) == []
    assert (await database.load(own_server, SMALL)).nodes == SMALL.node_count


@pytest.mark.extended
async def test_an_import_that_is_killed_leaves_an_empty_database(own_server: Settings) -> None:
    state = read_state(own_server)
    assert state is not None
    database.down(own_server)
    killed = "import signal, os; os.kill(os.getpid(), signal.SIGKILL)"
    with pytest.raises(StoreError, match="importer failed"):
        run_importer([sys.executable, "-cp", "-c", killed], state.folder, [], state.folder)
    (state.folder / "data" / "databases" / "neo4j").mkdir()
    (state.folder / "data" / "databases" / "neo4j" / "neostore").write_text("half of an import")
    database.up(own_server, with_="jars", release=state.release, port=state.port, heap="512m")
    assert await database.list_loads(own_server) == []
    assert (await database.load(own_server, SMALL)).nodes == SMALL.node_count


@pytest.mark.parametrize("properties", [{"list": ()}, {"list": ("",)}, {"a:b": 1}, {"f(x)": 1}])
def test_values_that_the_importer_alters_are_refused(properties: dict[str, Value], tmp_path: Path) -> None:
    graph = PropertyGraph.from_rows([Node("a", ("A",), properties)], [])
    with pytest.raises(ConfigError, match="importer") as raised:
        _write(graph, ORDINARY, "nobody", tmp_path / "graph")
    assert "without --bulk" in raised.value.hint


async def test_a_server_in_docker_is_out_of_reach(tmp_path: Path) -> None:
    home = Settings({"GRAPHWALK_HOME": str(tmp_path)})
    with socket.create_server(("127.0.0.1", 0)) as listening:
        write_state(home, LocalServer("docker", "5.26", "5.26.30", listening.getsockname()[1], "secret", tmp_path))
        with pytest.raises(StoreError, match="runs in Docker") as raised:
            await database.load_bulk(home, SMALL)
    assert "--with jars" in raised.value.hint


async def test_somebody_elses_server_is_never_stopped(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="of your own"):
        await database.load_bulk(Settings({"NEO4J_URI": "bolt://127.0.0.1:1"}), SMALL)
    home = Settings({"GRAPHWALK_HOME": str(tmp_path)})
    with pytest.raises(StoreError, match="no local Neo4j is running"):
        await database.load_bulk(home, SMALL)
