"""Docker's command as the tests of this folder use it, and what a Compose project has left."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.cleanup import COMPOSE_LABEL, containers_of, remove_project
from tests.neo4j_servers import CHOICE, HOME, image_of, missing_in_docker

ROOT = Path(__file__).parents[2]
SMALL = {"GRAPHWALK_NEO4J_HEAP": "512m", "GRAPHWALK_NEO4J_MEMORY": "2g"}


def need(*releases: str, images: tuple[str, ...] = ()) -> None:
    """Skip the test where Docker does not answer, or has no image of a release; fail if Docker was asked for."""
    images_of_releases = [image_of(release) for release in releases]
    missing = missing_in_docker(*images_of_releases, *images)
    if missing and os.environ.get(CHOICE) == "docker":
        pytest.fail(missing)
    if missing:
        pytest.skip(missing)


def docker(*words: object, **variables: str) -> str:
    """Run a command of Docker, and return what it prints."""
    done = subprocess.run(
        ["docker", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, **variables},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def graphwalk(*words: object, folder: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run a command of ours; the first start of a server can take minutes."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NEO4J_")}
    environment["NO_COLOR"] = "1"
    environment["COLUMNS"] = "200"
    environment.update(SMALL)
    environment.update(variables)
    return subprocess.run(
        [sys.executable, "-m", "graphwalk", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=environment,
        timeout=600,
    )


def left_of(project: str) -> dict[str, list[str]]:
    """The names of the containers, volumes and networks of a Compose project."""
    label = f"label={COMPOSE_LABEL}={project}"
    return {
        "containers": docker("container", "ls", "--all", "--filter", label, "--format", "{{.Names}}").split(),
        "volumes": docker("volume", "ls", "--filter", label, "--format", "{{.Name}}").split(),
        "networks": docker("network", "ls", "--filter", label, "--format", "{{.Name}}").split(),
    }


NOTHING: dict[str, list[str]] = {"containers": [], "volumes": [], "networks": []}


def volumes_in(project: str) -> list[str]:
    """The volumes that the project's containers use, nameless ones too."""
    ids = docker("container", "ls", "--all", "--quiet", "--filter", f"label={COMPOSE_LABEL}={project}").split()
    form = "{{range .Mounts}}{{.Name}} {{end}}"
    return sorted(docker("inspect", "--format", form, *ids).split())


def keep_clear(project: str) -> None:
    """Have the project removed when the run of the tests is gone, even if it is killed."""
    folder = Path(os.environ[HOME])
    with containers_of(folder).open("a") as file:
        file.write(f"{project}\n")


def new_project() -> Iterator[str]:
    """The name of a project; what is left of it is removed."""
    need()
    name = f"graphwalk-test-{uuid4().hex[:8]}"
    keep_clear(name)
    yield name
    remove_project(name)
