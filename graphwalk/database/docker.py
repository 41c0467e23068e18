"""Start and stop Neo4j with Docker Compose, from the compose file that ships with GraphWalk."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from graphwalk.database.releases import Release
from graphwalk.errors import StoreError
from graphwalk.resources import data_path
from graphwalk.stores.neo4j.local_server import write_private


def docker_answers() -> bool:
    """True if there is a Docker engine with Compose that this user may use."""
    docker = shutil.which("docker")
    if docker is None:
        return False
    try:
        checks = [[docker, "version", "--format", "{{.Server.Version}}"], [docker, "compose", "version"]]
        return all(subprocess.run(c, capture_output=True, timeout=20, check=False).returncode == 0 for c in checks)
    except (OSError, subprocess.TimeoutExpired):
        return False


def start_docker(
    release: Release,
    *,
    folder: Path,
    port: int,
    password: str,
    heap: str,
    wait_seconds: float,
    tell: Callable[[str], object],
) -> None:
    """Start the service and wait until it is healthy.

    StoreError with what Docker and the server said if it does not; nothing is left running then.
    """
    tell(f"starting Neo4j {release.version} with Docker, which fetches its image the first time (several hundred MB)")
    write_private(
        folder / "compose.env",
        f"NEO4J_PASSWORD={password}\nGRAPHWALK_NEO4J_VERSION={release.version}\n"
        f"GRAPHWALK_NEO4J_PORT={port}\nGRAPHWALK_NEO4J_HEAP={heap}\n",
    )
    try:
        _compose(folder, release, "up", "--detach", "--wait", "--wait-timeout", str(int(wait_seconds)))
    except StoreError as error:
        said = _logs(folder, release)
        stop_docker(release, folder, delete=False)
        raise StoreError(f"{error}\n{said}".rstrip(), hint=error.hint) from error
    except BaseException:
        stop_docker(release, folder, delete=False)
        raise


def stop_docker(release: Release, folder: Path, *, delete: bool) -> None:
    """Stop and remove the container; with `delete`, its data too."""
    _compose(folder, release, "down", *(["--volumes"] if delete else []))


def _logs(folder: Path, release: Release) -> str:
    """The last lines of the server's log, if Docker still has them."""
    try:
        return _compose(folder, release, "logs", "--no-color", "--no-log-prefix", "--tail", "10")
    except StoreError:
        return ""


def _compose(folder: Path, release: Release, *words: str) -> str:
    """What the command wrote to stdout."""
    project = f"graphwalk-{release.name.replace('.', '-')}"
    files = ["--file", str(data_path("docker-compose.yml")), "--env-file", str(folder / "compose.env")]
    # A variable comes before the file, and this one may be the password of another server.
    done = subprocess.run(
        ["env", "-u", "NEO4J_PASSWORD", "docker", "compose", "--project-name", project, *files, *words],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        said = (done.stderr or done.stdout).strip()[-1500:]
        raise StoreError(f"docker compose {words[0]} failed:\n{said}", hint="graphwalk db up --with jars")
    return done.stdout.strip()
