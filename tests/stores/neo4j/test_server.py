import socket
from pathlib import Path

import pytest
import yaml

from graphwalk.config.resources import data_path
from graphwalk.errors import ConfigError, StoreError
from graphwalk.graphs.files import load_graph
from graphwalk.stores.neo4j import server
from graphwalk.stores.neo4j.connection import connect
from graphwalk.stores.neo4j.loaded import db_clean, db_list, db_load
from graphwalk.stores.neo4j.local_server import DEFAULT_PASSWORD, check_first_password
from graphwalk.stores.neo4j.server import RELEASES, server_in
from graphwalk.variables import Variables
from tests.forked_commands import graphwalk as command
from tests.neo4j_servers import GIVEN, RELEASE_NAMES, free_port, quiet_settings, release_params


@pytest.fixture
def home(tmp_path: Path) -> Variables:
    return Variables({"GRAPHWALK_HOME": str(tmp_path / "home"), "GRAPHWALK_NEO4J_PORT": str(free_port())})


def test_what_is_missing_is_named(home: Variables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match=r"unknown Neo4j release '4\.4'"):
        server.up(home, release="4.4")
    with pytest.raises(ConfigError, match="not a port"):
        server.up(Variables({"GRAPHWALK_NEO4J_PORT": "x"}))
    monkeypatch.setattr(server, "_JVM_FOLDERS", ())
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(StoreError, match="needs Java 17 or 21") as raised:
        server.find_java(RELEASES["5.26"], home)
    assert "NEO4J_URI" in raised.value.hint
    with pytest.raises(StoreError, match="not found"):
        server.fetch_jars("5.26.30", "org.neo4j:neo4j:5.26.30")


def test_the_compose_file_is_closed_to_others_and_works_without_settings() -> None:
    text = data_path("docker-compose.yml").read_text()
    service = yaml.safe_load(text)["services"]["neo4j"]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert RELEASES["5.26"].version in service["image"]
    assert {"healthcheck", "restart", "volumes", "mem_limit", "cpus"} <= service.keys()
    assert ":?" not in text
    assert service["environment"]["NEO4J_AUTH"] == f"neo4j/${{NEO4J_PASSWORD:-{DEFAULT_PASSWORD}}}"


def test_each_home_port_and_release_has_a_project_and_a_folder_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    default = server._instance(Variables(), RELEASES["5.26"])
    assert (default.project.name, default.folder.name) == ("graphwalk", "neo4j-5.26")
    same = {"GRAPHWALK_HOME": str(default.home), "GRAPHWALK_NEO4J_PORT": "7687"}
    assert server._instance(Variables(same), RELEASES["5.26"]).project.name == "graphwalk"
    projects, folders = set(), set()
    for home in ("", str(tmp_path), str(tmp_path / "other")):
        for port in ("", "7688", "2026"):
            for release in RELEASES.values():
                variables = Variables({"GRAPHWALK_HOME": home, "GRAPHWALK_NEO4J_PORT": port})
                instance = server._instance(variables, release)
                projects.add(instance.project.name)
                folders.add(instance.folder)
    assert (len(projects), len(folders)) == (18, 18)
    (tmp_path / "link").symlink_to(tmp_path / "other")
    names = {
        server._instance(Variables({"GRAPHWALK_HOME": str(tmp_path / name)}), RELEASES["5.26"]).project.name
        for name in ("other", "link", "link/../other", "other/")
    }
    assert len(names) == 1
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert server._instance(Variables(), RELEASES["5.26"]).project.name.startswith("graphwalk-h")


def test_the_password_reaches_compose_in_the_environment_only(home: Variables) -> None:
    password = "p$HOME 'x' #1"
    variables = Variables({**home.values, "NEO4J_PASSWORD": password})
    project = server._instance(variables, RELEASES["5.26"]).project
    assert project.variables["NEO4J_PASSWORD"] == password
    assert password not in " ".join(project._project())


@pytest.mark.parametrize(
    ("password", "problem"),
    [
        ("short", "it has 5 characters"),
        ("neo4j", "it has 5 characters"),
        ("with/slash", '"/"'),
        ("-like-an-option", 'begins with "-"'),
        ("@like-a-file", 'begins with "@"'),
        ("two\nlines-of-it", "cannot be printed"),
    ],
)
def test_a_password_that_neo4j_does_not_take_is_refused_in_words(home: Variables, password: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        server.up(Variables({**home.values, "NEO4J_PASSWORD": password}))
    assert not Path(home.values["GRAPHWALK_HOME"]).exists()


@pytest.mark.parametrize(
    "password", [" leading", "trailing ", "it's $HOME", '"quoted"', "#comment", "back\\slash", "日本日本日本日本"]
)
def test_other_passwords_are_taken(password: str) -> None:
    check_first_password(password)


def test_a_busy_port_is_named_before_anything_is_created(home: Variables, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", int(home.values["GRAPHWALK_NEO4J_PORT"]))):
        done = command("db", "up", "--with", "jars", folder=tmp_path, **home.values)
    assert (done.returncode, "is in use" in done.stderr, "GRAPHWALK_NEO4J_PORT=" in done.stderr) == (3, True, True)
    assert not (tmp_path / "home").exists()


def test_data_decides_between_docker_and_the_jars(home: Variables) -> None:
    instance = server._instance(home, RELEASES["5.26"])
    steps: list[str] = []

    def choose(way: server.Way | None, docker: bool, *data: server.Way) -> server.Way:
        return server._choose_way(instance, way, docker, dict.fromkeys(data, "somewhere"), steps.append)

    assert choose("jars", True, "docker") == "jars"
    assert choose(None, True, "jars") == "jars"
    assert choose(None, False) == "jars"
    assert choose(None, False, "jars") == "jars"
    with pytest.raises(StoreError, match="Docker does not answer"):
        choose("docker", False)
    instance.mark.parent.mkdir(parents=True)
    instance.mark.touch()
    with pytest.raises(StoreError, match="the data of this Neo4j is in Docker"):
        choose(None, False)
    assert choose(None, False, "jars") == "jars"
    assert choose("jars", False) == "jars"


@pytest.mark.skipif(RELEASE_NAMES == (GIVEN,), reason="it removes all graphs that were loaded")
@pytest.mark.parametrize("release", release_params())
async def test_clean_removes_what_was_loaded_and_nothing_else(release: str) -> None:
    with quiet_settings(release) as variables:
        async with await connect(variables) as owner:
            await owner.write("CREATE (:Person {name: 'mine'})")
            loaded = await db_load(variables, load_graph("example"))
            assert (await owner.rows("MATCH (n) RETURN count(n) > 1")) == [[True]]
            assert [load.scope for load in await db_clean(variables)] == [loaded.scope]
            assert await db_list(variables) == []
            assert await owner.rows("MATCH (n:Person) RETURN n.name") == [["mine"]]
            await owner.write("MATCH (n:Person) DELETE n")


@pytest.mark.neo4j
@pytest.mark.skipif(RELEASE_NAMES == (GIVEN,), reason="a server of its own is started for this")
@pytest.mark.timeout(600)
@pytest.mark.extended
async def test_up_is_found_by_later_commands_until_down(home: Variables, tmp_path: Path) -> None:
    home = Variables({**home.values, "NEO4J_PASSWORD": ' "it\'s" ${HOME} $x #\\n \\ ü '})
    settings = {**home.values, "NEO4J_URI": ""}
    started = command("db", "up", "--with", "jars", folder=tmp_path, **settings)
    if "needs Java" in started.stderr or "mvn" in started.stderr:
        pytest.skip(started.stderr)
    folder = tmp_path / "home" / f"neo4j-5.26-p{home.values['GRAPHWALK_NEO4J_PORT']}"
    try:
        assert started.returncode == 0, started.stderr
        assert command("db", "up", folder=tmp_path, **settings).stdout == started.stdout
        other = command("db", "up", "--release", "2026", folder=tmp_path, **settings)
        assert (other.returncode, "is already running" in other.stderr) == (3, True)
        loaded = command("db", "load", "example", folder=tmp_path, **settings)
        assert loaded.returncode == 0, loaded.stderr
        scope = loaded.stdout.split()[-1]
        assert "with 1 graph of GraphWalk" in " ".join(command("doctor", folder=tmp_path, **settings).stdout.split())
        async with await connect(home) as connection:
            await connection.write("CREATE (:Person {name: 'mine'})")
        for words, end in (
            (["--dry-run"], "1 graph would be removed"),
            ([], "1 graph removed"),
            ([], "0 graphs removed"),
        ):
            cleaned = command("db", "clean", *words, folder=tmp_path, **settings)
            assert (cleaned.stdout.splitlines()[-1], scope in cleaned.stdout) == (end, not end.startswith("0"))
        async with await connect(home) as connection:
            assert await connection.rows("MATCH (n) RETURN n.name") == [["mine"]]
            assert await connection.rows("SHOW CONSTRAINTS YIELD name RETURN name") == []
    finally:
        stopped = command("db", "down", "--delete", folder=tmp_path, **settings)
    assert stopped.stdout == f"stopped Neo4j 5.26.30 from its jars\ndeleted its data: {folder}\n"
    assert server_in(folder) is None
    assert not folder.exists()
    assert command("db", "down", folder=tmp_path, **settings).stdout.startswith("nothing to stop")
