"""`graphwalk db up | down` with Docker: each home and port has a server of its own, and nothing else is touched."""

import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from graphwalk.errors import StoreError
from graphwalk.stores.neo4j import server
from graphwalk.stores.neo4j.local_server import answers_bolt
from graphwalk.stores.neo4j.server import RELEASES
from graphwalk.variables import Variables
from tests.cleanup import remove_project
from tests.docker.engine import NOTHING, graphwalk, keep_clear, left_of, need, volumes_in
from tests.neo4j_servers import free_port, settings_of

pytestmark = [pytest.mark.docker, pytest.mark.timeout(1200)]
AWKWARD = ' "it\'s" ${HOME} $x #\\n \\ ü '


class Place:
    """A home and a port, as variables and as its Compose project for a release."""

    def __init__(self, home: Path, port: int, **more: str) -> None:
        self.port = port
        self.variables = {"GRAPHWALK_HOME": str(home), "GRAPHWALK_NEO4J_PORT": str(port), **more}
        self.projects = {
            name: server._instance(Variables(self.variables), release).project.name
            for name, release in RELEASES.items()
        }
        for project in self.projects.values():
            keep_clear(project)

    def left(self) -> list[dict[str, list[str]]]:
        return [left_of(project) for project in self.projects.values()]

    def clear(self) -> None:
        for project in self.projects.values():
            remove_project(project)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    need()
    place = Place(tmp_path / "home", free_port(), NEO4J_PASSWORD=AWKWARD)
    yield place
    place.clear()


@pytest.mark.parametrize("number", range(len(RELEASES)), ids=list(RELEASES))
def test_up_and_down_with_a_password_of_any_characters(place: Place, number: int, tmp_path: Path) -> None:
    release = list(RELEASES)[number]  # a name as a parameter would start the server of other tests
    need(release)
    words = ("db", "up", "--release", release, "--with", "docker")
    started = graphwalk(*words, folder=tmp_path, **place.variables)
    assert started.returncode == 0, started.stderr
    project = place.projects[release]
    volumes = [f"{project}_data", f"{project}_logs"]
    assert started.stderr.splitlines()[-1] == f"it runs in Docker, with its data in volume {volumes[0]}"
    assert volumes_in(project) == volumes
    again = graphwalk("db", "up", "--release", release, folder=tmp_path, **place.variables)
    assert (again.returncode, again.stdout) == (0, started.stdout)
    loaded = graphwalk("db", "load", "example", folder=tmp_path, **place.variables)
    assert loaded.returncode == 0, loaded.stderr
    files = [path for path in (tmp_path / "home").rglob("*") if path.is_file()]
    assert all(AWKWARD.strip() not in path.read_text() for path in files)

    stopped = graphwalk("db", "down", folder=tmp_path, **place.variables)
    assert stopped.stdout == f"stopped Neo4j {RELEASES[release].version} in Docker\n"
    assert left_of(project) == {**NOTHING, "volumes": volumes}
    # The way that has its data is chosen.
    assert graphwalk(*words[:-2], folder=tmp_path, **place.variables).returncode == 0
    assert loaded.stdout.split()[-1] in graphwalk("db", "clean", "--dry-run", folder=tmp_path, **place.variables).stdout
    deleted = graphwalk("db", "down", "--delete", folder=tmp_path, **place.variables)
    assert deleted.stdout == (
        f"stopped Neo4j {RELEASES[release].version} in Docker\n"
        f"deleted its data: volume {volumes[0]}, volume {volumes[1]}\n"
    )
    assert place.left() == [NOTHING, NOTHING]
    nothing = graphwalk("db", "down", folder=tmp_path, **place.variables)
    assert (nothing.returncode, nothing.stdout.startswith("nothing to stop")) == (0, True)


def test_another_home_never_touches_a_running_server(place: Place, tmp_path: Path) -> None:
    need("5.26")
    assert graphwalk("db", "up", "--with", "docker", folder=tmp_path, **place.variables).returncode == 0
    before = place.left()
    for other in (
        Place(tmp_path / "other", place.port, NEO4J_PASSWORD=AWKWARD),
        Place(tmp_path / "home", free_port(), NEO4J_PASSWORD=AWKWARD),
    ):
        down = graphwalk("db", "down", "--delete", folder=tmp_path, **other.variables)
        assert (down.returncode, down.stdout.startswith("nothing to stop")) == (0, True)
        assert ("a Neo4j still answers" in down.stderr) == (other.port == place.port)
    same_port = graphwalk("db", "up", folder=tmp_path, **{**place.variables, "GRAPHWALK_HOME": str(tmp_path / "other")})
    assert (same_port.returncode, "was not started by" in same_port.stderr) == (0, True)
    assert (answers_bolt(place.port), place.left()) == (True, before)

    # A second server beside the first, and its removal.
    second = Place(tmp_path / "home", free_port(), NEO4J_PASSWORD="only-for-this-test")
    try:
        assert graphwalk("db", "up", "--with", "docker", folder=tmp_path, **second.variables).returncode == 0
        assert answers_bolt(place.port)
        assert graphwalk("db", "down", "--delete", folder=tmp_path, **second.variables).returncode == 0
        assert second.left() == [NOTHING, NOTHING]
    finally:
        second.clear()
    assert (answers_bolt(place.port), place.left()) == (True, before)


def test_a_wrong_password_is_named_and_the_data_stays(place: Place, tmp_path: Path) -> None:
    need("5.26")
    assert graphwalk("db", "up", "--with", "docker", folder=tmp_path, **place.variables).returncode == 0
    assert graphwalk("db", "down", folder=tmp_path, **place.variables).returncode == 0
    left = place.left()
    wrong = graphwalk("db", "up", folder=tmp_path, **{**place.variables, "NEO4J_PASSWORD": "another-one"})
    assert (wrong.returncode, "refuses the password" in wrong.stderr) == (3, True)
    assert place.left() == left


def test_what_a_failed_start_created_is_removed(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need("5.26")
    with socket.create_server(("127.0.0.1", place.port)):
        busy = graphwalk("db", "up", "--with", "docker", folder=tmp_path, **place.variables)
        assert (busy.returncode, "GRAPHWALK_NEO4J_PORT=" in busy.stderr) == (3, True)
        assert place.left() == [NOTHING, NOTHING]
        monkeypatch.setattr(server, "check_port", lambda port: None)  # another program takes it a moment later
        with pytest.raises(StoreError, match=r"port is already allocated|address already in use"):
            server.up(Variables(place.variables), way="docker")
    assert place.left() == [NOTHING, NOTHING]
    assert not list((tmp_path / "home").iterdir())


def test_an_image_that_docker_cannot_fetch_leads_to_the_jars(place: Place) -> None:
    need("5.26")
    release = replace(RELEASES["5.26"], version="no such image")
    instance = server._instance(Variables(place.variables), release)
    steps: list[str] = []
    assert server._choose_way(instance, None, True, {}, steps.append) == "jars"
    assert "Docker cannot fetch neo4j:no such image" in steps[-1]
    with pytest.raises(StoreError, match="Docker cannot fetch"):
        server._choose_way(instance, "docker", True, {}, steps.append)
    with pytest.raises(StoreError, match="Docker cannot fetch"):  # its data is there: no other server in silence
        server._choose_way(instance, None, True, {"docker": "a volume"}, steps.append)
    found = server._instance(Variables(place.variables), RELEASES["5.26"])
    assert server._choose_way(found, None, True, {}, steps.append) == "docker"


def test_a_server_of_somebody_else_is_used_and_never_stopped(tmp_path: Path) -> None:
    need("5.26")
    settings = settings_of("5.26")
    port = int((settings.get("NEO4J_URI") or "").rpartition(":")[2])
    place = Place(tmp_path / "home", port, NEO4J_PASSWORD=settings.get("NEO4J_PASSWORD") or "")
    used = graphwalk("db", "up", folder=tmp_path, **place.variables)
    assert (used.returncode, used.stderr.splitlines()[-1]) == (
        0,
        "it was not started by `graphwalk db up`, which will not stop it",
    )
    for words, part in (((), "GRAPHWALK_NEO4J_PORT="), (("--with", "docker"), "was not started by")):
        wrong = {**place.variables, "NEO4J_PASSWORD": "another-one"} if not words else place.variables
        refused = graphwalk("db", "up", *words, folder=tmp_path, **wrong)
        assert (refused.returncode, part in refused.stderr) == (3, True)
    down = graphwalk("db", "down", "--delete", folder=tmp_path, **place.variables)
    assert (down.returncode, down.stdout.startswith("nothing to stop")) == (0, True)
    assert "a Neo4j still answers" in down.stderr
    assert graphwalk("doctor", folder=tmp_path, **place.variables).returncode == 0
