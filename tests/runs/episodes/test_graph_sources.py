"""Graphs that a command loads into the user's Neo4j: removed at its end, or named and removed by `db clean`."""

import asyncio
import uuid
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from graphwalk.database.loads import clean, list_loads
from graphwalk.runs.episodes.resolve import resolve
from graphwalk.runs.finished.verify import verify_run
from graphwalk.runs.folder.run_folder import NewRun, RunFolder
from graphwalk.runs.playing.execute import start_run
from graphwalk.stores.neo4j.admin import Load
from graphwalk.stores.neo4j.connection import Connection
from graphwalk.variables import Variables
from tests.runs.runs import Notes, experiment, start


async def loads_of(variables: Variables, run_id: str) -> list[Load]:
    return [load for load in await list_loads(variables) if load.run_id == run_id]


@pytest.mark.neo4j
async def test_a_run_interrupted_while_it_loads_names_the_graph_and_db_clean_removes_it(
    neo4j_server: Variables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, constrain, numbers = asyncio.Event(), Connection.constrain, count()

    async def hang_at_the_end(self: Connection, *arguments: Any) -> None:
        if next(numbers):  # all batches are there, and the entry is marked as loading
            begun.set()
            await asyncio.Event().wait()
        await constrain(self, *arguments)

    monkeypatch.setattr(Connection, "constrain", hang_at_the_end)
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
    (left,) = await loads_of(neo4j_server, new.run_id)
    assert left.state == "loading"
    await clean(neo4j_server)
    assert not await loads_of(neo4j_server, new.run_id)


async def test_a_run_on_neo4j_is_verified_without_it(tmp_path: Path) -> None:
    await start(tmp_path / "run", experiment(models=["scripted/expert"], limit=3))
    folder = RunFolder.open(tmp_path / "run")
    manifest = folder.read_manifest()
    manifest["config"]["store"] = "neo4j"
    folder.write_manifest(manifest)
    nowhere = Variables({"NEO4J_URI": "bolt://127.0.0.1:9", "NEO4J_PASSWORD": "none"})
    verified = await verify_run(folder, nowhere)
    assert verified.holds, verified.error
    assert verified.checks["tool results"].verified
