"""Real Neo4j servers for the tests: NEO4J_URI if it is set, else testcontainers where Docker runs, else the jars.

Servers start on first use, once for the whole run, xdist workers included, and are gone at its end, however it ends:
by itself, by Ctrl-C, by SIGTERM, by SIGKILL (tests/guard.py). Where none can be
had, the tests that need one are skipped, and the summary names the reason.
"""

import multiprocessing.util
import os
import tempfile
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from graphwalk import database
from graphwalk.database.jars import RELEASES
from graphwalk.database.server import docker_answers
from graphwalk.errors import StoreError
from graphwalk.stores.base import Database
from graphwalk.stores.registry import open_database
from graphwalk.variables import Variables, read_variables
from tests.guard import start_guard

GIVEN = "given"
RELEASE_NAMES = (GIVEN,) if read_variables().neo4j_uri else tuple(RELEASES)
HOME = "GRAPHWALK_TEST_SERVERS"
"""The folder of the servers of one test run; xdist workers inherit it."""
SMALL = {"server.memory.pagecache.size": "32m"}
_PREFIX = "graphwalk-tests-"
_GUARD: pytest.StashKey[Any] = pytest.StashKey()
_missing: dict[str, str] = {}


def release_params() -> list[Any]:
    return [pytest.param(name, marks=pytest.mark.neo4j, id=f"neo4j-{name}") for name in RELEASE_NAMES]


def pytest_configure(config: pytest.Config) -> None:
    """The first process of a test run has a folder for its files, and a guard process that deletes it."""
    if not hasattr(config, "workerinput"):
        # What tests of a failed run wrote is kept where pytest keeps it.
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        os.environ[HOME] = str(folder)
        (folder / "tmp").mkdir()
        os.environ["TMPDIR"] = tempfile.tempdir = str(folder / "tmp")
        config.stash[_GUARD] = start_guard(folder, HOME)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """`make test` uses one release of Neo4j, `make test-all` every release."""
    for item in items:
        if any(release in item.name for release in RELEASE_NAMES[1:]):
            item.add_marker("extended")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Start the server that tests will need while others run: it takes half a minute."""
    first = getattr(session.config, "workerinput", {"workerid": "gw0"})["workerid"] == "gw0"
    given = [value for item in session.items if hasattr(item, "callspec") for value in item.callspec.params.values()]
    if first and not session.config.option.collectonly and not docker_answers():
        for release in filter(given.count, RELEASES if GIVEN not in RELEASE_NAMES else ()):
            Thread(target=_start_server, args=(Path(os.environ[HOME]) / release, release), daemon=True).start()


def pytest_unconfigure(config: pytest.Config) -> None:
    if _GUARD in config.stash:
        multiprocessing.util._exit_function()  # what it would remove later is in the folder that the guard removes
        # Its input ends, as it would if this process were killed.
        config.stash[_GUARD].communicate()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for what, reason in _missing.items():
        consequence = "jars were used" if what == "containers" else "its tests were skipped"
        terminalreporter.write_line(f"no Neo4j {what}, {consequence}: {reason}", yellow=True)


@pytest.fixture(scope="session")
def neo4j_settings() -> Iterator[Any]:
    """A function: release → Environment that reach a server of it."""
    containers: dict[str, Any] = {}

    def variables(release: str) -> Variables:
        if release == GIVEN:
            return read_variables()
        if "containers" not in _missing and docker_answers():
            try:
                return _container_settings(release, containers)
            except Exception as error:  # an engine that cannot fetch images, ports on another loopback, …
                _missing["containers"] = f"{type(error).__name__}: {error}"
        return server_settings(Path(os.environ[HOME]) / release, release)

    yield variables
    for container in containers.values():
        container.stop()


@pytest.fixture(scope="session", params=release_params())
def neo4j_server(request: pytest.FixtureRequest, neo4j_settings: Any) -> Variables:
    """Environment that reach a real Neo4j; every test runs once for each release."""
    variables: Variables = neo4j_settings(request.param)
    return variables


@pytest.fixture(params=[pytest.param("embedded", id="embedded"), *release_params()])
async def any_database(request: pytest.FixtureRequest) -> AsyncIterator[Database]:
    """An open database: embedded, and each release of Neo4j. What a test loads there is removed after it."""
    embedded = request.param == "embedded"
    settings = Variables() if embedded else request.getfixturevalue("neo4j_settings")(request.param)
    run_id = f"test-{uuid.uuid4().hex}"
    database = await open_database("embedded" if embedded else "neo4j", settings, run_id=run_id)
    yield database
    if not embedded:
        for load in await database.loads():  # type: ignore[attr-defined]
            if load.run_id == run_id:
                await database.drop(load.scope)  # type: ignore[attr-defined]
    await database.close()


def _start_server(home: Path, release: str) -> None:
    with suppress(pytest.skip.Exception):
        server_settings(home, release)


def server_settings(home: Path, release: str) -> Variables:
    """Start, or find, a server of the jars whose state is in `home`. Skips the test where that is impossible."""
    variables = Variables({**read_variables().values, "GRAPHWALK_HOME": str(home)})
    try:
        server = database.up(variables, with_="jars", release=release, port=None, heap="512m", conf=SMALL)
    except StoreError as error:
        _missing[release] = str(error)
        pytest.skip(f"no Neo4j {release}: {error}")
    return Variables({"NEO4J_URI": server.uri, "NEO4J_PASSWORD": server.password, "GRAPHWALK_HOME": str(home)})


def quiet_settings(release: str) -> Variables:
    """A server of this worker alone, for digests of a whole database; a test leaves nothing there but `tests/safety`."""
    if release == GIVEN:
        return read_variables()
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    return server_settings(Path(os.environ[HOME]) / f"quiet-{release}-{worker}", release)


def _container_settings(release: str, containers: dict[str, Any]) -> Variables:
    # Tests reach loopback only, and that is where the engine of this machine publishes ports.
    os.environ.setdefault("TESTCONTAINERS_CONNECTION_MODE", "docker_host")
    os.environ.setdefault("TESTCONTAINERS_HOST_OVERRIDE", "127.0.0.1")
    from testcontainers.community.neo4j import Neo4jContainer

    if release not in containers:
        image = f"neo4j:{RELEASES[release].version}-community"
        container = Neo4jContainer(image, password="only-for-these-tests")
        try:
            containers[release] = container.start()
        except BaseException:
            with suppress(Exception):
                container.stop()
            raise
    container = containers[release]
    return Variables({"NEO4J_URI": container.get_connection_url(), "NEO4J_PASSWORD": container.password})
