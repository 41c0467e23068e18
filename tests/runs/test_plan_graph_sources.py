"""Graphs that a command loads into the user's Neo4j: removed at its end, or named and removed by `db clean`."""

import asyncio
import uuid
from pathlib import Path
from typing import Any

import pytest

from graphwalk.runs.folder import NewRun
from graphwalk.runs.play import start_run
from graphwalk.runs.resolve import resolve
from graphwalk.stores.neo4j.connection import Connection, connect
from graphwalk.stores.neo4j.loaded import list_loads, remove_graph
from graphwalk.variables import Variables
from tests.runs.runs import Notes, experiment


@pytest.mark.neo4j
async def test_a_run_interrupted_while_it_loads_names_the_graph_and_db_clean_removes_it(
    neo4j_server: Variables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, write, written = asyncio.Event(), Connection.write, list[str]()

    async def hang(self: Connection, cypher: str, **parameters: Any) -> Any:
        if "CREATE (a)-[r:" in cypher:  # the nodes are there
            written.append(cypher)
            begun.set()
            await asyncio.Event().wait()
        return await write(self, cypher, **parameters)

    monkeypatch.setattr(Connection, "write", hang)
    config = experiment(models=["scripted/expert"], store="neo4j", seed=uuid.uuid4().int % 10**6)
    new, progress = NewRun.make("run", tmp_path / "run"), Notes()
    task = asyncio.create_task(start_run(resolve(config, neo4j_server), new, progress))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    monkeypatch.undo()
    (note,) = [note for note in progress.notes if "may be left in the database" in note]
    assert "graphwalk db clean" in note
    async with await connect(neo4j_server) as connection:
        (left,) = (load for load in await list_loads(connection) if load.scope in written[0])
        assert (left.nodes > 0, left.relationships) == (True, 0)
        await remove_graph(connection, left.scope)
