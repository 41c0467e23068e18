"""A Neo4j that is killed while a run is walking in it: episodes end without a score, and a resume plays them (P5)."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from graphwalk.errors import StoreError
from graphwalk.runs.progress import Progress
from graphwalk.runs.record import Result
from graphwalk.stores.neo4j.connection import connect
from graphwalk.stores.neo4j.server import RELEASES, await_answer, start_jars, stop_jars
from graphwalk.variables import read_variables
from tests.neo4j_servers import GIVEN, PASSWORD, RELEASE_NAMES, SMALL, server_settings
from tests.runs.runs import experiment, records, resume, start

pytestmark = [
    pytest.mark.neo4j,
    pytest.mark.extended,
    pytest.mark.timeout(1200),  # on a busy machine a server takes minutes to start
    pytest.mark.skipif(RELEASE_NAMES == (GIVEN,), reason="the server that NEO4J_URI names is not ours to restart"),
]
EPISODES = 36


@pytest.mark.parametrize("release", RELEASE_NAMES)
async def test_a_killed_server_ends_episodes_without_a_score(release: str, tmp_path: Path) -> None:
    settings, server = server_settings(tmp_path, release, from_jars=True), tmp_path / "neo4j"

    class Killing(Progress):
        done = 0
        task: Any = None

        def finished(self, result: Result) -> None:
            self.done += 1
            if self.done == 10:
                self.task = asyncio.ensure_future(asyncio.to_thread(stop_jars, server, at_once=True))

    progress = Killing()
    flags = {"store": "neo4j", "repeats": 3, "limits.max_concurrency": 4}
    try:
        with suppress(StoreError):  # if it is gone before all graphs are loaded
            await start(tmp_path / "run", experiment(models=["scripted/expert"], **flags), settings, progress)
        await progress.task
        right, wrong, failed = counts(tmp_path / "run")
        assert (wrong, right >= 10, failed > 0) == (0, True, True)

        port = int((settings.get("NEO4J_URI") or "").rpartition(":")[2])
        variables = read_variables()
        start_jars(server, RELEASES[release], port, PASSWORD, variables=variables, heap="512m", conf=SMALL)
        await_answer(port, PASSWORD)
        assert (await resume(tmp_path / "run", settings)).finished == EPISODES
        assert counts(tmp_path / "run")[:2] == (EPISODES, 0)
        async with await connect(settings) as connection:
            assert await connection.write("MATCH (n) RETURN n LIMIT 1") == []
            assert await connection.write("SHOW CONSTRAINTS YIELD name") == []
    finally:
        stop_jars(server, at_once=True)


def counts(folder: Path) -> tuple[int, int, int]:
    """How many episodes are right, wrong, without a score."""
    scores = [record["score"] for record in records(folder)]
    right = sum(score is not None and score["correct"] for score in scores)
    return right, len(scores) - right - scores.count(None), scores.count(None)
