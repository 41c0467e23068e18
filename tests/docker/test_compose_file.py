"""docker-compose.yml as README uses it, under a name and a port of the test."""

import json
from pathlib import Path

import pytest

from tests.docker.engine import NOTHING, SMALL, docker, graphwalk, left_of, need, volumes_in
from tests.neo4j_servers import free_port

pytestmark = [pytest.mark.docker, pytest.mark.timeout(900)]


def test_data_survives_a_kill_and_down_and_goes_with_its_volumes(project: str, tmp_path: Path) -> None:
    need("5.26")
    port = str(free_port())
    compose = ("compose", "--project-name", project, "--file", "docker-compose.yml")
    variables = {**SMALL, "GRAPHWALK_NEO4J_PORT": port, "NEO4J_PASSWORD": ""}
    here = {"GRAPHWALK_NEO4J_PORT": port}
    assert left_of(project) == NOTHING

    docker(*compose, "up", "--detach", "--wait", **variables)
    (container,) = left_of(project)["containers"]
    assert docker("inspect", "--format", "{{.State.Health.Status}}", container) == "healthy"
    run = graphwalk("run", "quickstart", "--limit", 2, "--store", "neo4j", "--out", "run", folder=tmp_path, **here)
    assert run.returncode == 0, run.stderr
    loaded = graphwalk("db", "load", "example", folder=tmp_path, **here)
    assert loaded.returncode == 0, loaded.stderr
    scope = loaded.stdout.split()[-1]

    docker("kill", "--signal", "KILL", container)
    docker(*compose, "up", "--detach", "--wait", **variables)
    assert scope in graphwalk("db", "clean", "--dry-run", folder=tmp_path, **here).stdout

    volumes = volumes_in(project)
    assert volumes == [f"{project}_data", f"{project}_logs"]
    docker(*compose, "down", **variables)
    assert left_of(project) == {**NOTHING, "volumes": volumes}
    docker(*compose, "up", "--detach", "--wait", **variables)
    assert volumes_in(project) == volumes
    assert scope in graphwalk("db", "clean", "--dry-run", folder=tmp_path, **here).stdout
    docker(*compose, "down", "--volumes", **variables)
    assert left_of(project) == NOTHING


def test_a_wrong_password_is_never_healthy(project: str) -> None:
    """The check asks with the password, so it fails where the volume has another one."""
    need("5.26")
    compose = ("compose", "--project-name", project, "--file", "docker-compose.yml")
    variables = {**SMALL, "GRAPHWALK_NEO4J_PORT": str(free_port()), "NEO4J_PASSWORD": "the-right-one"}
    docker(*compose, "up", "--detach", "--wait", **variables)
    (container,) = left_of(project)["containers"]
    check = json.loads(docker("inspect", "--format", "{{json .Config.Healthcheck.Test}}", container))[1:]
    docker("exec", container, *check)
    wrong = docker("exec", "--env", "NEO4J_AUTH=neo4j/another-one", container, *check[:2], f"! ({check[2]}\n)")
    assert wrong == ""
