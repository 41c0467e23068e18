"""A graph loaded by hand is what is asked next, and its evidence can be looked at in the database."""

import asyncio
import json
from pathlib import Path

import pytest

import graphwalk
from graphwalk.errors import StoreError
from graphwalk.stores.neo4j.connection import connect
from graphwalk.stores.neo4j.loaded import db_last, db_load, remove_graph
from graphwalk.variables import Variables
from tests.forked_commands import graphwalk as command

pytestmark = pytest.mark.neo4j
FILMS = Path(__file__).parent.parent / "data" / "films.json"
ASK = ("ask", "Who directed Red Dust?", "--model", "scripted/look", "--json")


async def test_the_graph_loaded_last_is_asked(
    neo4j_server: Variables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in neo4j_server.values.items():
        monkeypatch.setenv(name, value)
    films, other = graphwalk.read_graph(FILMS), graphwalk.generate_graph(nodes=20, seed=1)
    loaded = [await db_load(neo4j_server, graph) for graph in (other, films)]
    try:
        last = await db_last(neo4j_server)
        assert last is not None
        assert last.scope == max(load.scope for load in loaded)
        done = await asyncio.to_thread(command, *ASK, folder=tmp_path, **neo4j_server.values)
        assert done.returncode == 0, done.stderr
        record = json.loads(done.stdout)
        assert "Bo Lund [p2] DIRECTED Red Dust [f2]" in record["answer"]
        assert record["graph"] == last.scope
        assert len(record["evidence"]["relationships"]) == 1
        async with graphwalk.aopen_store({"loaded": last.scope, "labels": ["Film"]}) as store:
            schema = await store.schema()
            assert ([node.label for node in schema.nodes], schema.relationships) == (["Film"], ())
    finally:
        async with await connect(neo4j_server) as connection:
            for load in loaded:
                await remove_graph(connection, load.scope)


async def test_removed_graph_is_an_error(neo4j_server: Variables, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in neo4j_server.values.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(StoreError, match="there is no graph gw_000000000000 in this Neo4j"):
        async with graphwalk.aopen_store({"loaded": "gw_000000000000"}):
            pass
