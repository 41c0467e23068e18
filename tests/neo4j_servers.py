"""Real Neo4j servers for the tests: NEO4J_URI if it is set, else those of the jars.

Servers start on first use, once for the whole run, xdist workers included, and are gone at its end, however it ends
(tests/guard.py). Where none can be had, the tests that need one are skipped, and the summary names the reason.
"""

import multiprocessing.util
import os
import socket
import tempfile
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from filelock import FileLock

from graphwalk.errors import StoreError
from graphwalk.stores.base import Database, open_database
from graphwalk.stores.neo4j.server import RELEASES, await_answer, start_jars
from graphwalk.variables import Variables, read_variables
from tests.guard import start_guard

GIVEN = "given"
RELEASE_NAMES = (GIVEN,) if read_variables().get("NEO4J_URI") else tuple(RELEASES)
HOME = "GRAPHWALK_TEST_SERVERS"
"""The folder of the servers of one test run; xdist workers inherit it."""
SMALL = {"server.memory.pagecache.size": "32m"}
PASSWORD = "only-for-these-tests"
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
        # Servers of tests live for minutes: the JVM's second compiler would cost more time than it saves.
        os.environ["JAVA_TOOL_OPTIONS"] = "-XX:TieredStopAtLevel=1"
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
    if first and not session.config.option.collectonly:
        for release in filter(given.count, RELEASES if GIVEN not in RELEASE_NAMES else ()):
            Thread(target=_start_server, args=(Path(os.environ[HOME]) / release, release), daemon=True).start()


def pytest_unconfigure(config: pytest.Config) -> None:
    if _GUARD in config.stash:
        multiprocessing.util._exit_function()  # what it would remove later is in the folder that the guard removes
        # Its input ends, as it would if this process were killed.
        config.stash[_GUARD].communicate()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for what, reason in _missing.items():
        terminalreporter.write_line(f"no Neo4j {what}, its tests were skipped: {reason}", yellow=True)


def settings_of(release: str) -> Variables:
    """The variables that reach a server of a release."""
    return read_variables() if release == GIVEN else server_settings(Path(os.environ[HOME]) / release, release)


@pytest.fixture(scope="session", params=release_params())
def neo4j_server(request: pytest.FixtureRequest) -> Variables:
    """The variables that reach a real Neo4j; every test runs once for each release."""
    return settings_of(request.param)


@pytest.fixture(params=[pytest.param("embedded", id="embedded"), *release_params()])
async def any_database(request: pytest.FixtureRequest) -> AsyncIterator[Database]:
    """An open database: embedded, and each release of Neo4j. What a test loads there is removed after it."""
    embedded = request.param == "embedded"
    settings = Variables() if embedded else settings_of(request.param)
    run_id = f"test-{uuid.uuid4().hex}"
    database = await open_database("embedded" if embedded else "neo4j", settings, run_id=run_id)
    yield database
    for scope in list(getattr(database, "_stores", ()) if not embedded else ()):
        await database.drop(scope)  # type: ignore[attr-defined]
    await database.close()


def _start_server(home: Path, release: str) -> None:
    with suppress(pytest.skip.Exception):
        server_settings(home, release)


def server_settings(home: Path, release: str) -> Variables:
    """Start, or find, a server whose data is in `home`. Skip the test where that is impossible."""
    home.mkdir(parents=True, exist_ok=True)
    port = home / "port"
    try:
        with FileLock(home / "lock"):
            if not port.exists():
                number = free_port()
                start_jars(
                    home / "neo4j",
                    RELEASES[release],
                    number,
                    PASSWORD,
                    variables=read_variables(),
                    heap="512m",
                    conf=SMALL,
                )
                await_answer(number, PASSWORD)
                port.write_text(str(number))
    except StoreError as error:
        _missing[release] = str(error)
        pytest.skip(f"no Neo4j {release}: {error}")
    return Variables({"NEO4J_URI": f"bolt://127.0.0.1:{port.read_text()}", "NEO4J_PASSWORD": PASSWORD})


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def quiet_settings(release: str) -> Iterator[Variables]:
    """A server of one test at a time, for digests of a whole database; `tests/safety` alone leaves something there."""
    if release == GIVEN:
        yield read_variables()
        return
    home = Path(os.environ[HOME]) / f"quiet-{release}"
    settings = server_settings(home, release)
    with FileLock(home / "turn"):
        yield settings
