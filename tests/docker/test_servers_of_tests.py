"""The containers of the database tests are gone after them, however they end."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Timer

import pytest

from tests.cleanup import COMPOSE_LABEL, LABEL, clear_up, containers_of
from tests.docker.engine import ROOT, docker, need
from tests.neo4j_servers import CHOICE, HOME, image_of

pytestmark = [pytest.mark.docker, pytest.mark.timeout(900)]
FORM = f'{{{{.ID}}}} {{{{.Label "{LABEL}"}}}}'
TEST = "tests/stores/neo4j/test_server.py::test_clean_removes_what_was_loaded_and_nothing_else[neo4j-5.26]"


def containers() -> dict[str, str]:
    """The ids of the containers of other runs of tests, with the folder of the run."""
    lines = docker(
        "container", "ls", "--all", "--no-trunc", "--filter", f"label={LABEL}", "--format", FORM
    ).splitlines()
    folders = dict(line.split(" ", 1) for line in lines)
    return {name: folder for name, folder in folders.items() if folder != os.environ[HOME]}


def test_a_killed_run_leaves_no_container_and_no_volume() -> None:
    need("5.26")
    hidden = {HOME, "GRAPHWALK_TRIED_NETWORK", "PYTEST_XDIST_WORKER", "NEO4J_URI"}
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    before = containers()
    run = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", TEST],
        cwd=ROOT,
        env={**environment, CHOICE: "docker"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
    )
    try:
        while not (new := containers().keys() - before.keys()):
            assert run.poll() is None
            time.sleep(0.2)
        volumes = docker("inspect", "--format", "{{range .Mounts}}{{.Name}} {{end}}", *new).split()
        assert volumes
    finally:
        run.send_signal(signal.SIGKILL)
        run.wait()
    while new & containers().keys():
        time.sleep(0.2)
    assert not set(volumes) & set(docker("volume", "ls", "--quiet").split())


def test_what_the_engine_still_creates_for_a_killed_run_is_removed(tmp_path: Path) -> None:
    need("5.26")
    folder = tmp_path / "run"
    folder.mkdir()
    project = f"graphwalk-test-{folder.parent.name}"
    containers_of(folder).write_text(f"{project}\n")

    def create() -> None:
        for label in (f"{LABEL}={folder}", f"{COMPOSE_LABEL}={project}"):
            created.append(docker("create", "--label", label, image_of("5.26")))

    created: list[str] = []
    late = Timer(3, create)
    late.start()
    clear_up(str(folder), "NO_PROCESS_HAS_THIS", was_killed=True)
    late.join()
    assert len(created) == 2
    assert not set(created) & set(docker("container", "ls", "--all", "--quiet", "--no-trunc").split())
    assert not folder.exists()
