"""A Neo4j that goes away while a run is walking in it: the run waits once, and no score is wrong (R24)."""

import asyncio
import os
import random
import signal
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from graphwalk.database import clean
from graphwalk.errors import StoreError
from graphwalk.runs.folder.result import Result
from graphwalk.runs.playing.counters import RunSummary
from graphwalk.runs.playing.run_progress import Progress
from tests.integration.test_kills import command, wait_for_results
from tests.neo4j_servers import GIVEN, RELEASE_NAMES
from tests.runs.own_server import OwnServer, own_server, proxied
from tests.runs.runs import Notes, experiment, records, resume, start

pytestmark = [
    pytest.mark.neo4j,
    pytest.mark.skipif(RELEASE_NAMES == (GIVEN,), reason="the server that NEO4J_URI names is not ours to restart"),
]
SLOW = (pytest.mark.slow, pytest.mark.timeout(0))
"""Servers take their time to start again; on the oldest release the shortest of these tests are quick ones."""
REPEATS = 4
EPISODES = 12 * REPEATS
AWAY = "waiting for it"


@dataclass
class Disturbed(Notes):
    """A progress that calls a function after `at` finished episodes, and keeps the notes."""

    at: int = 0
    disturb: Callable[[], Awaitable[Any]] = lambda: asyncio.sleep(0)
    done: int = 0
    task: Any = None

    def finished(self, result: Result) -> None:
        self.done += 1
        if self.done == self.at:
            self.task = asyncio.ensure_future(self.disturb())

    def told(self, words: str) -> int:
        return sum(words in note for note in self.notes)


def expert(**limits: Any) -> Any:
    """An expert, who is right each time."""
    flags = {f"limits.{name}": value for name, value in {"max_concurrency": 4, **limits}.items()}
    return experiment(models=["scripted/expert"], store="neo4j", repeats=REPEATS, **flags)


async def disturbed(folder: Path, server: OwnServer, progress: Disturbed, **limits: Any) -> RunSummary:
    summary = await start(folder, expert(**limits), server.settings, progress)
    await progress.task
    return summary


def scores(folder: Path) -> tuple[int, int, int]:
    """How many episodes are right, wrong, without a score."""
    given = [record["score"] for record in records(folder)]
    right = sum(score is not None and score["correct"] for score in given)
    return right, len(given) - right - given.count(None), given.count(None)


@pytest.fixture(
    scope="module", params=[RELEASE_NAMES[0], *(pytest.param(name, marks=SLOW) for name in RELEASE_NAMES[1:])]
)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnServer]:
    with own_server(tmp_path_factory.mktemp("own"), request.param) as found:
        yield found


async def assert_nothing_is_left(server: OwnServer) -> None:
    assert await server.run("MATCH (n) RETURN count(n)") == 0
    assert await server.run("SHOW CONSTRAINTS YIELD name RETURN count(*)") == 0


@pytest.mark.extended
async def test_runs_beside_each_other_leave_no_constraint(server: OwnServer, tmp_path: Path) -> None:
    config, names = experiment(models=["scripted/expert"], store="neo4j"), ("a", "b", "c")
    await asyncio.gather(*(start(tmp_path / name, config, server.settings) for name in names))
    assert [scores(tmp_path / name) for name in names] == [(12, 0, 0)] * 3
    await assert_nothing_is_left(server)


@pytest.mark.extended
async def test_clean_removes_the_constraint_that_a_killed_run_left(server: OwnServer) -> None:
    await server.run("CREATE CONSTRAINT graphwalk_load_scope FOR (l:GraphWalkLoad) REQUIRE l.scope IS UNIQUE")
    await server.run("CREATE CONSTRAINT own FOR (p:Person) REQUIRE p.name IS UNIQUE")
    await clean(server.settings)
    assert await server.run("SHOW CONSTRAINTS YIELD name WHERE name = 'own' RETURN count(*)") == 1
    await server.run("DROP CONSTRAINT own")
    await assert_nothing_is_left(server)


@pytest.mark.timeout(1200)  # on a busy machine a server takes minutes to start
@pytest.mark.parametrize(
    "empty",
    [
        pytest.param(lambda server: server.restart(empty=True), id="restarted", marks=pytest.mark.extended),
        pytest.param(lambda server: server.run("MATCH (n) DETACH DELETE n"), id="deleted", marks=pytest.mark.slow),
    ],
)
async def test_an_emptied_database_is_loaded_again(
    server: OwnServer, tmp_path: Path, empty: Callable[[OwnServer], Awaitable[Any]]
) -> None:
    """Episodes that had seen the graph that is gone are tried again, and never scored wrong."""
    progress = Disturbed(at=10, disturb=lambda: empty(server))
    await disturbed(tmp_path / "run", server, progress)
    right, wrong, failed = scores(tmp_path / "run")
    assert (wrong, right + failed) == (0, EPISODES)
    assert progress.told("has been loaded again") >= 1
    await resume(tmp_path / "run", server.settings)
    assert scores(tmp_path / "run")[:2] == (EPISODES, 0)


@dataclass
class Stopped(Progress):
    """Stop the server for some seconds after the tasks about so many graphs were made."""

    server: OwnServer
    graphs: int
    delay: float
    task: Any = None

    def planning(self, tasks: int) -> None:
        self.graphs -= 1
        if self.graphs == 0:
            self.task = asyncio.ensure_future(self.stop())

    async def stop(self) -> None:
        await asyncio.sleep(self.delay)
        self.server.freeze()
        await asyncio.sleep(6)  # longer than a query may be silent without a check
        self.server.thaw()


@pytest.mark.timeout(0)
@pytest.mark.extended
@pytest.mark.parametrize("rounds", [2, pytest.param(50, marks=SLOW)])
async def test_stopped_while_graphs_are_loaded(server: OwnServer, tmp_path: Path, rounds: int) -> None:
    draw = random.Random(8)
    for number in range(rounds):
        flags = {"suite.graphs.*.count": 6, "suite.questions": ["node_count", "node_by_property"], "limit": 12}
        config = experiment(models=["scripted/expert"], store="neo4j", seed=number, **flags)
        progress = Stopped(server, draw.randrange(1, 5), draw.uniform(0, 0.5))
        summary = await start(tmp_path / f"run{number}", config, server.settings, progress)
        await progress.task
        assert (summary.finished, scores(tmp_path / f"run{number}")) == (12, (12, 0, 0)), number
    await assert_nothing_is_left(server)


@pytest.mark.extended
async def test_stopped_before_the_first_answer(server: OwnServer, tmp_path: Path) -> None:
    """The server takes connections and is silent until the run reports that it waits."""

    class Thawing(Notes):
        def note(self, text: str) -> None:
            super().note(text)
            server.thaw()

    server.freeze()
    progress = Thawing()
    try:
        await start(tmp_path / "run", expert(), server.settings, progress)
    finally:
        server.thaw()
    assert AWAY in progress.notes[0]
    assert scores(tmp_path / "run") == (EPISODES, 0, 0)


@pytest.mark.slow
@pytest.mark.timeout(0)
async def test_the_run_ends_where_it_does_not_come_back(server: OwnServer, tmp_path: Path) -> None:
    async def kill() -> None:
        server.kill()

    progress = Disturbed(at=10, disturb=kill)
    with pytest.raises(StoreError, match="has not come back within 3 s") as raised:
        await disturbed(tmp_path / "run", server, progress, store_wait_seconds=3)
    assert "store_wait_seconds" in raised.value.hint
    assert progress.told(AWAY) == 1
    right, wrong, failed = scores(tmp_path / "run")
    assert wrong == 0
    assert 10 <= right < EPISODES
    assert failed <= 4
    await server.start()
    assert (await resume(tmp_path / "run", server.settings)).finished == EPISODES
    assert scores(tmp_path / "run")[:2] == (EPISODES, 0)


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
    words = ["--store", "neo4j", "--repeats", "100", "--graphs", "1", "--model", "scripted/expert"]
    begun = asyncio.create_subprocess_exec(
        *command("run", "quickstart", *words, "--out", tmp_path / "run"),
        env={**os.environ, **server.settings.values},
        stderr=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
    )
    process = await begun
    await wait_for_results(tmp_path / "run", 5)
    server.freeze()
    try:
        await asyncio.sleep(1)
        process.send_signal(signal.SIGTERM)
        _, errors = await asyncio.wait_for(process.communicate(), 60)
    finally:
        server.thaw()
    assert process.returncode == 143, errors
    assert f"graphwalk resume {tmp_path / 'run'}" in errors.decode()
    assert "Traceback" not in errors.decode()
