"""Start and stop one local Neo4j for all later commands (`graphwalk db up | down | status`)."""

import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Literal

from neo4j import GraphDatabase
from neo4j.exceptions import AuthError, DriverError, Neo4jError

from graphwalk.database.jars import DEFAULT_RELEASE, release_named, runs_in, start_jars, stop_jars
from graphwalk.errors import StoreError
from graphwalk.files.resources import data_path
from graphwalk.files.writing import locked, make_folder
from graphwalk.stores.neo4j.local_server import (
    LocalServer,
    answers_bolt,
    read_state,
    state_file,
    state_folder,
    write_private,
    write_state,
)
from graphwalk.variables import Variables

DEFAULT_PORT = 7687
START_SECONDS = 180.0
_PAUSE_SECONDS = 0.1


@dataclass(frozen=True)
class ServerStatus:
    """The server of `up` (None: none); `running`: its process or container lives; `answers`: on Bolt."""

    server: LocalServer | None
    running: bool = False
    answers: bool = False


def up(
    variables: Variables,
    *,
    with_: Literal["auto", "docker", "jars"] = "auto",
    release: str = DEFAULT_RELEASE,
    port: int | None = DEFAULT_PORT,
    heap: str = "1g",
    conf: Mapping[str, str] | None = None,
    wait_seconds: float = START_SECONDS,
    tell: Callable[[str], object] = lambda step: None,
) -> LocalServer:
    """Start Neo4j on a loopback port (None: any free one), or return the running one; `down` keeps its data.

    "auto" uses Docker if an engine answers, else the published jars. `heap`: memory of Java ("768m"); `conf`: lines
    of neo4j.conf (jars only); `tell` is called at each step. Raise StoreError if neither way works, the port is taken,
    or the server does not start.
    """
    chosen = release_named(release)
    with _lock(variables):
        current = status(variables)
        if current.server and current.running:
            # One that is slow to answer may be busy with a run, or starting: wait for it, never end it.
            if current.server.release != chosen.name:
                raise StoreError(
                    f"cannot start Neo4j {chosen.version}: Neo4j {current.server.version} is already running",
                    hint="graphwalk db down",
                )
            tell("waiting for the running server")
            _await_answer(current.server, wait_seconds)
            return current.server
        how = with_ if with_ != "auto" else "docker" if docker_answers() else "jars"
        port = free_port() if port is None else port
        if is_taken(port):
            raise StoreError(f"port {port} is in use", hint=f"graphwalk db up --port {port + 1}")
        folder = state_folder(variables).absolute() / f"neo4j-{chosen.name}-{how}"
        password_file = folder / "password"  # next to the data, since a server accepts its password once
        if not password_file.exists():
            write_private(password_file, secrets.token_hex(24))  # hexadecimal, so that none looks like an option
        password = password_file.read_text(encoding="utf-8")
        server = LocalServer(how, chosen.name, chosen.version, port, password, folder)
        if how == "docker":
            start_docker(server, heap, wait_seconds, tell)
        else:
            server = start_jars(server, variables, heap=heap, conf=conf or {}, wait_seconds=wait_seconds, tell=tell)
        write_state(variables, server)
        tell("waiting until it answers a query")
        _await_answer(server, wait_seconds)
        return server


def down(variables: Variables, *, delete: bool = False) -> LocalServer | None:
    """Stop the server of `up`, with `delete` remove its data, and return it; None if there was none."""
    with _lock(variables):
        server = read_state(variables)
        if server is not None:
            if server.pid is None:
                _compose(server, "down", *(["--volumes"] if delete else []))
            else:
                stop_jars(server.pid, server.folder, at_once=delete)
            state_file(variables).unlink(missing_ok=True)
            if delete:
                shutil.rmtree(server.folder, ignore_errors=True)
        return server


def status(variables: Variables) -> ServerStatus:
    """Return the status of the server of `up`."""
    server = read_state(variables)
    if server is None:
        return ServerStatus(None)
    answers = answers_bolt(server.port)
    # A container holds its port for as long as it runs.
    running = is_taken(server.port) if server.pid is None else runs_in(server.pid, server.folder)
    return ServerStatus(server, running, running and answers)


def _await_answer(server: LocalServer, seconds: float) -> None:
    """Wait until the server answers a query, some time after its first Bolt handshake; else raise StoreError."""
    deadline = time.monotonic() + seconds
    reason = "it does not speak Bolt"
    with GraphDatabase.driver(server.uri, auth=("neo4j", server.password)) as driver:
        while time.monotonic() < deadline:
            try:
                if answers_bolt(server.port):
                    driver.execute_query("RETURN 1")
                    return
            except AuthError as error:
                raise StoreError(
                    f"Neo4j at {server.uri} refuses the password in {server.folder / 'password'}",
                    hint="graphwalk db down --delete   (removes its data), then  graphwalk db up",
                ) from error
            except (DriverError, Neo4jError, OSError) as error:
                reason = str(error)
            time.sleep(_PAUSE_SECONDS)
    raise StoreError(
        f"Neo4j at {server.uri} is running but does not answer within {seconds:g} s: {reason}",
        hint="graphwalk db down, then  graphwalk db up",
    )


@contextmanager
def _lock(variables: Variables) -> Iterator[None]:
    """Allow one `up` or `down` at a time."""
    folder = state_folder(variables)
    make_folder(folder, private=True, error=StoreError)
    with locked(folder / "lock", StoreError):
        yield


def is_taken(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return True
    return False


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def docker_answers() -> bool:
    """Return True if this user can use a Docker engine with Compose."""
    checks = [["docker", "version", "--format", "{{.Server.Version}}"], ["docker", "compose", "version"]]
    try:
        return all(subprocess.run(c, capture_output=True, timeout=20, check=False).returncode == 0 for c in checks)
    except (OSError, subprocess.TimeoutExpired):
        return False


def start_docker(server: LocalServer, heap: str, wait_seconds: float, tell: Callable[[str], object]) -> None:
    """Start the service and wait until it is healthy.

    Else stop it, and raise StoreError with the output of Docker and the server.
    """
    tell(f"starting Neo4j {server.version} with Docker (the first time it fetches several hundred MB)")
    write_private(
        server.folder / "compose.env",
        f"NEO4J_PASSWORD={server.password}\nGRAPHWALK_NEO4J_VERSION={server.version}\n"
        f"GRAPHWALK_NEO4J_PORT={server.port}\nGRAPHWALK_NEO4J_HEAP={heap}\n",
    )
    healthy = False
    try:
        _compose(server, "up", "--detach", "--wait", "--wait-timeout", str(int(wait_seconds)))
        healthy = True
    except StoreError as error:
        log = ""
        with suppress(StoreError):
            log = _compose(server, "logs", "--no-color", "--no-log-prefix", "--tail", "10")
        raise StoreError(f"{error}\n{log}".rstrip(), hint=error.hint) from error
    finally:
        if not healthy:
            _compose(server, "down")


def _compose(server: LocalServer, *words: str) -> str:
    """Run a command of Docker Compose and return its output."""
    project = f"graphwalk-{server.release.replace('.', '-')}"
    files = ["--file", str(data_path("docker-compose.yml")), "--env-file", str(server.folder / "compose.env")]
    # A variable comes before the file, and this one may be the password of another server.
    done = subprocess.run(
        ["env", "-u", "NEO4J_PASSWORD", "docker", "compose", "--project-name", project, *files, *words],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        output = (done.stderr or done.stdout).strip()[-1500:]
        raise StoreError(f"docker compose {words[0]} failed:\n{output}", hint="graphwalk db up --with jars")
    return done.stdout.strip()
