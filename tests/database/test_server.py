import os
import re
import signal
import socket
import subprocess
import threading
from pathlib import Path

import pytest
import yaml

from graphwalk import database
from graphwalk.database import jars
from graphwalk.database.jars import RELEASES, runs_in
from graphwalk.database.server import free_port
from graphwalk.errors import ConfigError, StoreError
from graphwalk.files.resources import data_path
from graphwalk.stores.neo4j.local_server import (
    COMPOSE_PASSWORD,
    LocalServer,
    answers_bolt,
    read_state,
    state_file,
    state_folder,
    write_state,
)
from graphwalk.variables import Variables
from tests.cli.test_commands import graphwalk as command
from tests.neo4j_servers import GIVEN, RELEASE_NAMES, server_settings


@pytest.fixture
def home(tmp_path: Path) -> Variables:
    return Variables({"GRAPHWALK_HOME": str(tmp_path / "home")})


def server(folder: Path, pid: int) -> LocalServer:
    return LocalServer("jars", "5.26", "5.26.30", free_port(), "a-password", folder, pid)


def test_the_state_is_private_and_comes_back(home: Variables, tmp_path: Path) -> None:
    written = server(tmp_path, 1)
    write_state(home, written)
    assert read_state(home) == written
    assert state_file(home).stat().st_mode & 0o777 == 0o600
    assert "a-password" not in repr(written)


def test_damaged_state_is_an_error(home: Variables) -> None:
    state_folder(home).mkdir(parents=True)
    state_file(home).write_text('{"how": ')
    with pytest.raises(StoreError, match="is damaged") as raised:
        database.status(home)
    assert "db up" in raised.value.hint


def test_another_process_with_the_same_number_is_left_alone(home: Variables, tmp_path: Path) -> None:
    write_state(home, server(tmp_path / "neo4j", os.getpid()))
    assert not runs_in(os.getpid(), tmp_path / "neo4j")
    assert not database.status(home).running
    assert database.down(home) is not None


def test_a_port_that_is_taken(home: Variables) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(StoreError, match=f"port {port} is in use") as raised:
            database.up(home, with_="jars", port=port)
        assert f"--port {port + 1}" in raised.value.hint
        assert not answers_bolt(port, seconds=0.2)


def test_what_is_missing_is_named(home: Variables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert database.status(home) == database.ServerStatus(None)
    assert database.down(home) is None
    with pytest.raises(ConfigError, match=r"unknown Neo4j release '4\.4'"):
        database.up(home, release="4.4")
    monkeypatch.setattr(jars, "_JVM_FOLDERS", ())
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(StoreError, match="needs Java 17 or 21") as raised:
        jars.find_java(RELEASES["5.26"], home)
    assert "NEO4J_URI" in raised.value.hint
    with pytest.raises(StoreError, match="not found"):
        jars.fetch_jars("5.26.30", "org.neo4j:neo4j:5.26.30")


def test_the_compose_file_is_closed_to_others_and_works_without_settings() -> None:
    text = data_path("docker-compose.yml").read_text()
    service = yaml.safe_load(text)["services"]["neo4j"]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert RELEASES["5.26"].version in service["image"]
    assert {"healthcheck", "restart", "volumes", "mem_limit", "cpus"} <= service.keys()
    assert ":?" not in text
    assert service["environment"]["NEO4J_AUTH"] == f"neo4j/${{NEO4J_PASSWORD:-{COMPOSE_PASSWORD}}}"


@pytest.mark.neo4j
def test_a_server_of_db_up_that_has_ended_does_not_hide_that_of_compose(
    neo4j_server: Variables, home: Variables, tmp_path: Path
) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    write_state(home, server(tmp_path, gone.pid))
    port = (neo4j_server.neo4j_uri or "").rpartition(":")[2]
    password = neo4j_server.neo4j_password or ""
    variables = {**home.values, "GRAPHWALK_NEO4J_PORT": port, "NEO4J_PASSWORD": password}
    status = command("db", "status", folder=tmp_path, **variables)
    assert (status.returncode, status.stdout.splitlines()[0]) == (0, f"docker compose bolt://127.0.0.1:{port}")


@pytest.mark.neo4j
def test_a_server_of_compose_is_found_without_settings(
    neo4j_server: Variables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a server of the tests, which listens where that of docker-compose.yml would."""
    uri, password = neo4j_server.neo4j_uri or "", neo4j_server.neo4j_password or ""
    monkeypatch.setenv("GRAPHWALK_NEO4J_PORT", uri.rpartition(":")[2])
    monkeypatch.setenv("GRAPHWALK_HOME", str(tmp_path))
    (tmp_path / ".env").write_text(f"NEO4J_PASSWORD={password}\n")
    status, doctor = command("db", "status", folder=tmp_path), command("doctor", folder=tmp_path)
    assert status.returncode == 0, status.stderr
    assert status.stdout.startswith(f"docker compose bolt://127.0.0.1:{uri.rpartition(':')[2]}\ngraphs ")
    assert re.search(r"ok +neo4j +bolt://127\.0\.0\.1:\d+ is running", doctor.stdout)
    (tmp_path / ".env").unlink()
    refused = command("db", "status", folder=tmp_path)
    assert (refused.returncode, "refuses the user name or password" in refused.stderr) == (3, True)


def test_a_container_that_does_not_come_up_is_taken_down(
    home: Variables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a script in place of the `docker` command, since few machines that run tests have an engine."""
    called = tmp_path / "called"
    docker = tmp_path / "docker"
    docker.write_text(
        "#!/bin/sh\n"
        f'case "$*" in *" up "*) echo up >>{called}; echo "is unhealthy" >&2; exit 1;;\n'
        f'*" logs "*) echo "the heap is too small";; *" down"*) echo down >>{called};; esac\n'
    )
    docker.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(StoreError, match=r"is unhealthy\nthe heap is too small") as raised:
        database.up(home, with_="docker", port=None)
    assert "--with jars" in raised.value.hint
    assert called.read_text() == "up\ndown\n"
    assert database.status(home).server is None


@pytest.mark.extended
def test_a_container_that_is_slow_to_answer_is_waited_for(home: Variables, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        write_state(home, LocalServer("docker", "5.26", "5.26.30", port, "a-password", tmp_path, None))
        assert database.status(home).running
        with pytest.raises(StoreError, match=r"does not answer within 0\.5 s"):
            database.up(home, with_="docker", port=port, wait_seconds=0.5)
    assert not database.status(home).running


@pytest.mark.neo4j
@pytest.mark.skipif(RELEASE_NAMES == (GIVEN,), reason="a server of its own is started for this")
@pytest.mark.extended
def test_a_server_that_is_slow_to_answer_is_waited_for_and_not_ended(tmp_path: Path) -> None:
    settings = server_settings(tmp_path, "5.26")
    started = database.status(settings).server
    assert started is not None
    assert started.pid is not None
    try:
        os.kill(started.pid, signal.SIGSTOP)
        # All of its threads have stopped some time after the signal.
        assert any(not database.status(settings).answers for _ in range(100))
        with pytest.raises(StoreError, match="does not answer within 1 s") as raised:
            database.up(settings, with_="jars", port=None, wait_seconds=1.0)
        assert "graphwalk db down" in raised.value.hint
        threading.Timer(2.0, os.kill, (started.pid, signal.SIGCONT)).start()
        assert database.up(settings, with_="jars", port=None) == started
        with pytest.raises(StoreError, match="is already running"):
            database.up(settings, with_="jars", port=None, release="2026")
        assert database.down(settings) == started
        assert not runs_in(started.pid, started.folder)
        assert (started.folder / "data").exists()
    finally:
        database.down(settings, delete=True)
