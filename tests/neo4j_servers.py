"""Real Neo4j servers for the tests: NEO4J_URI if it is set, else containers where Docker has the image, else the jars.

Servers start on first use, once for the whole run, xdist workers included, and are gone at its end, however it ends
(tests/cleanup.py). Where none can be had, the tests that need one are skipped, and the summary names the reason.
GRAPHWALK_TEST_NEO4J=docker or =jars chooses one of them; then these tests fail where it cannot be had.
"""

import multiprocessing.util
import os
import socket
import subprocess
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
from graphwalk.stores.neo4j.compose import docker_answers
from graphwalk.stores.neo4j.server import RELEASES, await_answer, start_jars
from graphwalk.variables import Variables, read_variables
from tests.cleanup import ENDED, LABEL, containers_of, start_cleanup

GIVEN = "given"
RELEASE_NAMES = (GIVEN,) if read_variables().get("NEO4J_URI") else tuple(RELEASES)
HOME = "GRAPHWALK_TEST_SERVERS"
"""The folder of the servers of one test run; xdist workers inherit it."""
CHOICE = "GRAPHWALK_TEST_NEO4J"
SMALL = {"server.memory.pagecache.size": "32m"}
JVM = "-XX:TieredStopAtLevel=1"
"""Servers of tests live for minutes: the JVM's second compiler would cost more time than it saves."""
PASSWORD = "only-for-these-tests"
_PREFIX = "graphwalk-tests-"
_CLEANUP: pytest.StashKey[Any] = pytest.StashKey()
_missing: dict[str, str] = {}


def release_params() -> list[Any]:
    return [pytest.param(name, marks=pytest.mark.neo4j, id=f"neo4j-{name}") for name in RELEASE_NAMES]


def pytest_configure(config: pytest.Config) -> None:
    """The first process of a test run has a folder for its files, and a process that deletes it in the end."""
    if not hasattr(config, "workerinput"):
        # What tests of a failed run wrote is kept where pytest keeps it.
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        os.environ[HOME] = str(folder)
        (folder / "tmp").mkdir()
        os.environ["JAVA_TOOL_OPTIONS"] = JVM
        # tests/cleanup.py removes containers, also after SIGKILL; Ryuk would need an image of its own.
        os.environ["TESTCONTAINERS_RYUK_DISABLED"] = "true"
        if Path("/.dockerenv").exists():  # else it looks for the container at the address of the bridge
            os.environ.setdefault("TESTCONTAINERS_CONNECTION_MODE", "docker_host")
        os.environ["TMPDIR"] = tempfile.tempdir = str(folder / "tmp")
        config.stash[_CLEANUP] = start_cleanup(folder, HOME)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """`make test` uses one release of Neo4j, `make test-all` every release, and Docker itself."""
    for item in items:
        if any(release in item.name for release in RELEASE_NAMES[1:]) or item.get_closest_marker("docker"):
            item.add_marker("extended")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Start the server that tests will need while others run: it takes half a minute."""
    worker = getattr(session.config, "workerinput", {"workerid": "gw0"})["workerid"]
    if worker != "gw0" or session.config.option.collectonly or GIVEN in RELEASE_NAMES:
        return
    parameters = set()
    for item in session.items:
        if hasattr(item, "callspec"):
            parameters.update(value for value in item.callspec.params.values() if isinstance(value, str))
    for release in RELEASES:
        if release in parameters:
            Thread(target=_start_server, args=(Path(os.environ[HOME]) / release, release), daemon=True).start()


def pytest_unconfigure(config: pytest.Config) -> None:
    if _CLEANUP in config.stash:
        multiprocessing.util._exit_function()  # what it would remove later is in the folder that tests/cleanup.py removes
        # Its input ends, as it would, without a word, if this process were killed.
        config.stash[_CLEANUP].communicate(ENDED)


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
    with suppress(Exception, pytest.skip.Exception, pytest.fail.Exception):  # the test that needs it tells the reason
        server_settings(home, release)


def server_settings(home: Path, release: str, *, from_jars: bool = False) -> Variables:
    """Start, or find, the server of `home`. Skip the test where that is impossible, or fail if it was asked for.

    `from_jars`: its data is in `home`, for tests that kill it.
    """
    home.mkdir(parents=True, exist_ok=True)
    address = home / "address"
    with FileLock(home / "lock"):
        if not address.exists():
            try:
                in_docker = not from_jars and _is_docker_chosen(release)
                address.write_text(_start_container(release) if in_docker else _start_jars(home, release))
            except StoreError as error:
                if CHOICE in os.environ:
                    pytest.fail(f"no Neo4j {release}: {error}")
                _missing[release] = str(error)
                pytest.skip(f"no Neo4j {release}: {error}")
    return Variables({"NEO4J_URI": address.read_text(), "NEO4J_PASSWORD": PASSWORD})


def _is_docker_chosen(release: str) -> bool:
    choice = os.environ.get(CHOICE)
    if choice in ("docker", "jars"):
        return choice == "docker"
    if choice is not None:
        raise StoreError(f"{CHOICE} is {choice!r}, not docker or jars")
    return missing_in_docker(image_of(release)) is None


def image_of(release: str) -> str:
    return f"neo4j:{RELEASES[release].version}-community"


def missing_in_docker(*images: str) -> str | None:
    """Return what is missing: an engine that answers, or an image; None if all is there.

    Docker's command is asked: its package leaves an open socket behind where no engine answers.
    """
    if not docker_answers():
        return "Docker does not answer"
    for image in images:
        if subprocess.run(["docker", "image", "inspect", image], capture_output=True, check=False).returncode:
            return f"Docker has no image {image}"
    return None


def _start_container(release: str) -> str:
    """Start a container, and return the address of its server."""
    from testcontainers.community.neo4j import Neo4jContainer

    if missing := missing_in_docker(image_of(release)):
        raise StoreError(missing)
    folder = Path(os.environ[HOME])
    containers_of(folder).touch()
    container = Neo4jContainer(image_of(release), password=PASSWORD)
    container.with_env("NEO4J_server_memory_heap_max__size", "512m")
    container.with_env("NEO4J_server_jvm_additional", JVM)
    for name, value in SMALL.items():
        container.with_env(f"NEO4J_{name.replace('_', '__').replace('.', '_')}", value)
    container.with_kwargs(labels={LABEL: str(folder)})
    container.ports[str(container.port)] = ("127.0.0.1", None)  # type: ignore[assignment]
    container.start()
    return str(container.get_connection_url())


def _start_jars(home: Path, release: str) -> str:
    """Start a server from the jars with its data in `home`, and return its address."""
    port = free_port()
    start_jars(home / "neo4j", RELEASES[release], port, PASSWORD, variables=read_variables(), heap="512m", conf=SMALL)
    await_answer(port, PASSWORD)
    return f"bolt://127.0.0.1:{port}"


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
