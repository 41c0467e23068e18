"""Clears up after a test run, however it ends: a small process that waits until the run is gone.

    python -m tests.cleanup FOLDER VARIABLE

Its input is a pipe that only the run holds open. When that ends, every process that was started below the run (whose
environment has FOLDER in VARIABLE) is ended, the containers that it started are removed, and the folder too.

A run that ends by itself writes ENDED first. Without it the run was killed, and Docker's engine may still create a
container that the run had asked for: then the engine is asked until it has had none for a while.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import psutil

_WAIT_SECONDS = 30.0
LABEL = "graphwalk.tests"
"""The label of the run's containers; its value is the folder."""
COMPOSE_LABEL = "com.docker.compose.project"
ENDED = b"ended"
_SECONDS_WITHOUT_CONTAINER = 10.0
"""A busy engine takes seconds to create a container, also after the program that asked for it is gone."""


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


def clear_up(folder: str, variable: str, *, was_killed: bool) -> None:
    """End what was started, and what that starts in the meantime, then remove the folder."""
    while processes := started_below(folder, variable):
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        _, alive = psutil.wait_procs(processes, _WAIT_SECONDS)
        if alive:
            break

    try:
        clear_docker(Path(folder), was_killed=was_killed)
    finally:  # an engine that was stopped keeps its containers, and is named by the exception
        shutil.rmtree(folder, ignore_errors=True)


def clear_docker(folder: Path, *, was_killed: bool) -> None:
    """Remove the containers, networks and volumes of the run, if it started any."""
    containers = containers_of(folder)
    if not containers.exists():
        return
    labels = [f"{LABEL}={folder}"]
    for project in containers.read_text().split():
        labels.append(f"{COMPOSE_LABEL}={project}")
    remove_labelled(labels)
    if was_killed:
        remove_latecomers(labels)


def containers_of(folder: Path) -> Path:
    """Return a file that exists once the run starts containers; it lists its Compose projects."""
    return folder / "containers"


def remove_latecomers(labels: list[str]) -> None:
    """Remove what the engine still creates, until it has created nothing for some seconds."""
    quiet_since = time.monotonic()
    while time.monotonic() - quiet_since < _SECONDS_WITHOUT_CONTAINER:
        time.sleep(0.5)
        if remove_labelled(labels):
            quiet_since = time.monotonic()


def remove_labelled(labels: Iterable[str]) -> bool:
    """Remove the containers, networks and volumes with one of the labels. Return True if one was removed.

    A container takes its nameless volumes with it.
    """
    import docker  # takes 0.3 s

    removed = []
    with closing(docker.from_env()) as client:
        for label in labels:
            of_label = {"filters": {"label": label}}
            for container in client.containers.list(all=True, ignore_removed=True, **of_label):
                removed.append(_remove(container, force=True, v=True))
            for network in client.networks.list(**of_label):
                removed.append(_remove(network))
            for volume in client.volumes.list(**of_label):
                removed.append(_remove(volume, force=True))
    return any(removed)


def _remove(thing: Any, **options: bool) -> bool:
    """Remove a container, network or volume. One that cannot be removed does not keep the others."""
    from docker.errors import APIError

    try:
        thing.remove(**options)
    except APIError:  # it is gone by now, or another program is removing it
        return False
    return True


def remove_project(name: str) -> None:
    """Remove containers, networks and volumes of a Compose project."""
    remove_labelled([f"{COMPOSE_LABEL}={name}"])


if __name__ == "__main__":
    last_words = sys.stdin.buffer.read()  # returns when the run has ended
    clear_up(sys.argv[1], sys.argv[2], was_killed=last_words != ENDED)
