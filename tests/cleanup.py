"""Clears up after a test run, however it ends: a small process that waits until the run is gone.

    python -m tests.cleanup FOLDER VARIABLE

Its input is a pipe that only the run holds open. When that ends, every process that was started below the run (whose
environment has FOLDER in VARIABLE) is ended, the containers that it started are removed, and the folder too.
"""

import os
import shutil
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path

import psutil

_WAIT_SECONDS = 30.0
LABEL = "graphwalk.tests"
"""The label of the run's containers; its value is the folder."""
COMPOSE_LABEL = "com.docker.compose.project"


def start_cleanup(folder: Path, variable: str) -> "subprocess.Popen[bytes]":
    """Start the process that waits, outside the session of the run, so that no signal to the run reaches it."""
    environment = dict(os.environ)
    environment.pop(variable, None)  # else it would end itself
    environment.pop("TMPDIR", None)
    words = [sys.executable, "-m", "tests.cleanup", str(folder), variable]
    root = Path(__file__).parents[1]
    return subprocess.Popen(words, stdin=subprocess.PIPE, env=environment, cwd=root, start_new_session=True)


def started_below(folder: str, variable: str) -> list[psutil.Process]:
    """Return the processes that have the folder in their environment; those of other users cannot be read, nor be ours."""
    processes = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(variable) == folder:
                processes.append(process)
        except (psutil.Error, OSError):
            continue
    return processes


def clear_up(folder: str, variable: str) -> None:
    """End what was started, and what that starts in the meantime, then remove the folder."""
    while processes := started_below(folder, variable):
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        _, alive = psutil.wait_procs(processes, _WAIT_SECONDS)
        if alive:
            break

    containers = containers_of(Path(folder))
    if containers.exists():
        remove_containers(f"{LABEL}={folder}")
        for project in containers.read_text().split():
            remove_project(project)

    shutil.rmtree(folder, ignore_errors=True)


def containers_of(folder: Path) -> Path:
    """Return a file that exists once the run starts containers; it lists its Compose projects."""
    return folder / "containers"


def remove_containers(label: str) -> None:
    """Remove the containers with a label, by their ids, and their nameless volumes."""
    import docker  # takes 0.3 s

    with closing(docker.from_env()) as client:
        containers = client.containers.list(all=True, filters={"label": label}, ignore_removed=True)
        for container in containers:
            container.remove(force=True, v=True)


def remove_project(name: str) -> None:
    """Remove containers, volumes and networks of a Compose project."""
    import docker

    label = f"{COMPOSE_LABEL}={name}"
    remove_containers(label)
    with closing(docker.from_env()) as client:
        for network in client.networks.list(filters={"label": label}):
            network.remove()
        for volume in client.volumes.list(filters={"label": label}):
            volume.remove()


if __name__ == "__main__":
    sys.stdin.buffer.read()  # returns when the run has ended
    clear_up(sys.argv[1], sys.argv[2])
