"""A Neo4j that goes away while a run is walking in it: episodes end without a score, and a resume plays them."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from graphwalk.errors import StoreError
from graphwalk.runs.progress import Progress
from graphwalk.runs.record import Result
from tests.integration.test_kills import command, wait_for_results
from tests.neo4j_servers import GIVEN, RELEASE_NAMES
from tests.runs.own_server import OwnServer, own_server, proxied
from tests.runs.runs import experiment, records, resume, start

pytestmark = [
    pytest.mark.neo4j,
    pytest.mark.skipif(RELEASE_NAMES == (GIVEN,), reason="the server that NEO4J_URI names is not ours to restart"),
]
REPEATS = 3
EPISODES = 12 * REPEATS


@dataclass
class Disturbed(Progress):
    """A progress that calls a function after ten finished episodes."""

    disturb: Callable[[], Awaitable[Any]]
    done: int = 0
    task: Any = None

    def finished(self, result: Result) -> None:
        self.done += 1
        if self.done == 10:
            self.task = asyncio.ensure_future(self.disturb())


def expert() -> Any:
    """An expert, who is right each time."""
    return experiment(models=["scripted/expert"], store="neo4j", repeats=REPEATS, **{"limits.max_concurrency": 4})


def scores(folder: Path) -> tuple[int, int, int]:
    """How many episodes are right, wrong, without a score."""
    given = [record["score"] for record in records(folder)]
    right = sum(score is not None and score["correct"] for score in given)
    return right, len(given) - right - given.count(None), given.count(None)


@pytest.fixture(
    scope="module",
    params=[RELEASE_NAMES[0], *(pytest.param(name, marks=pytest.mark.extended) for name in RELEASE_NAMES[1:])],
)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnServer]:
    with own_server(tmp_path_factory.mktemp("own"), request.param) as found:
        yield found


async def check_resumed(server: OwnServer, folder: Path) -> None:
    """No score is wrong; a resume plays what has none, and removes its graphs."""
    right, wrong, failed = scores(folder)
    assert (wrong, right >= 10, failed > 0) == (0, True, True)
    assert (await resume(folder, server.settings)).finished == EPISODES
    assert scores(folder)[:2] == (EPISODES, 0)
    assert await server.run("MATCH (n) RETURN count(n)") == 0
    assert await server.run("SHOW CONSTRAINTS YIELD name RETURN count(*)") == 0


@pytest.mark.extended
async def test_a_deleted_graph_ends_its_episodes_without_a_score(server: OwnServer, tmp_path: Path) -> None:
    progress = Disturbed(lambda: server.run("MATCH (n) DETACH DELETE n"))
    await start(tmp_path / "run", expert(), server.settings, progress)
    await progress.task
    await check_resumed(server, tmp_path / "run")


@pytest.mark.timeout(1200)  # on a busy machine a server takes minutes to start
@pytest.mark.extended
async def test_a_killed_server_ends_episodes_without_a_score(server: OwnServer, tmp_path: Path) -> None:
    progress = Disturbed(lambda: asyncio.to_thread(server.kill))
    with suppress(StoreError):  # if it is gone before all graphs are loaded
        await start(tmp_path / "run", expert(), server.settings, progress)
    await progress.task
    await asyncio.to_thread(server.start)
    await check_resumed(server, tmp_path / "run")


@pytest.mark.extended
async def test_cut_connections_change_nothing(server: OwnServer, tmp_path: Path) -> None:
    cut: list[int] = []
    async with proxied(server.settings) as (proxy, settings):

        class Cutting(Progress):
            def finished(self, result: Result) -> None:
                if result.key.repeat == 0:
                    cut.append(proxy.cut())

        summary = await start(tmp_path / "run", expert(), settings, Cutting())
    assert sum(cut) >= 3
    assert (summary.finished, scores(tmp_path / "run")) == (EPISODES, (EPISODES, 0, 0))
    assert await server.run("MATCH (n) RETURN count(n)") == 0


@pytest.mark.extended
async def test_a_signal_while_it_is_frozen(server: OwnServer, tmp_path: Path) -> None:
    words = ["--store", "neo4j", "-o", "repeats=100", "--graphs", "1", "--model", "scripted/expert"]
    begun = asyncio.create_subprocess_exec(
        *command("run", "quickstart", *words, "--out", tmp_path / "run"),
        env={**os.environ, **server.settings.values},
        stderr=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
    )
    process = await begun
    await wait_for_results(tmp_path / "run", 5)
    server.send(signal.SIGSTOP)
    try:
        await asyncio.sleep(1)
        process.send_signal(signal.SIGTERM)
        _, errors = await asyncio.wait_for(process.communicate(), 60)
    finally:
        server.send(signal.SIGCONT)
    assert process.returncode == 143, errors
    assert f"graphwalk resume {tmp_path / 'run'}" in errors.decode()
    assert "Traceback" not in errors.decode()
