"""A Neo4j in Docker: docker-compose.yml under a project name, with containers and volumes of its own."""

import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from graphwalk.config.resources import data_path
from graphwalk.errors import StoreError
from graphwalk.stores.neo4j.local_server import answers_bolt
from graphwalk.variables import process_environment

SERVICE = "neo4j"
_LABEL = "com.docker.compose.project"
_FAILED_STATES = ("restarting", "exited", "dead", "removed")


def docker_answers() -> bool:
    """Return True if this user can use a Docker engine with Compose."""
    try:
        return subprocess.run(["docker", "compose", "ls"], capture_output=True, timeout=20, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


@dataclass(frozen=True)
class ComposeProject:
    """The services of docker-compose.yml under one project name; Docker answers."""

    name: str
    version: str
    """Of Neo4j, as 5.26.30."""
    variables: Mapping[str, str]
    """Those that docker-compose.yml takes from the environment."""

    @property
    def image(self) -> str:
        return f"neo4j:{self.version}-community"

    def states(self) -> dict[str, str]:
        """Return the state of each container by its service: {"neo4j": "running"}."""
        form = '{{.Label "com.docker.compose.service"}} {{.State}}'
        lines = self._list("container", "--all", "--format", form)
        return dict(line.rsplit(" ", 1) for line in lines)  # "neo4j running"

    def volumes(self) -> list[str]:
        """Return the names of its volumes."""
        return self._list("volume", "--format", "{{.Name}}")

    def has_leftovers(self) -> bool:
        """Return True if there is a container or a network of it."""
        return bool(self.states() or self._list("network", "--quiet"))

    def has_image(self) -> bool:
        return subprocess.run(["docker", "image", "inspect", self.image], capture_output=True).returncode == 0

    def fetch_image(self, tell: Callable[[str], object]) -> None:
        """Pull the image if it is not here. Raise StoreError if that fails."""
        if self.has_image():
            return
        tell(f"fetching the image {self.image} (several hundred MB)")
        self._run(["docker", "pull", "--quiet", self.image], f"Docker cannot fetch {self.image}")

    def start(self, port: int, seconds: float) -> None:
        """Start Neo4j, and wait until it speaks Bolt. Raise StoreError with the end of its log if it does not."""
        self._compose("up", "--detach", SERVICE)
        deadline = time.monotonic() + seconds
        while not answers_bolt(port):
            state = self.states().get(SERVICE, "removed")
            if state in _FAILED_STATES or time.monotonic() > deadline:
                raise StoreError(f"Neo4j did not start, its container is {state}:\n{self._end_of_log()}")
            time.sleep(0.2)

    def remove(self, *, volumes: bool = False) -> None:
        """Remove its containers and networks, also those of the profile `mcp`."""
        words = ["--profile", "mcp", "down"]
        if volumes:
            words.append("--volumes")
        self._compose(*words)

    def _end_of_log(self) -> str:
        done = self._docker("compose", *self._project(), "logs", "--no-log-prefix", "--tail", "15", SERVICE)
        return (done.stdout + done.stderr).strip()[-1500:]

    def _list(self, kind: str, *words: str) -> list[str]:
        done = self._docker(kind, "ls", "--filter", f"label={_LABEL}={self.name}", *words)
        if done.returncode:
            raise StoreError(f"docker {kind} ls failed:\n{done.stderr.strip()}")
        return done.stdout.splitlines()

    def _compose(self, *words: str) -> None:
        self._run(["docker", "compose", *self._project(), *words], f"docker compose {' '.join(words)} failed")

    def _project(self) -> list[str]:
        return ["--project-name", self.name, "--file", str(data_path("docker-compose.yml"))]

    def _run(self, command: Sequence[str], problem: str) -> None:
        done = self._docker(*command[1:])
        if done.returncode:
            output = (done.stdout + done.stderr).strip()[-1500:]
            raise StoreError(f"{problem}:\n{output}", hint="graphwalk db up --with jars   (or set NEO4J_URI)")

    def _docker(self, *words: str) -> "subprocess.CompletedProcess[str]":
        # Settings are passed in the environment only: files would interpret a password, and others see command lines.
        environment = process_environment(COMPOSE_DISABLE_ENV_FILE="true", **self.variables)
        return subprocess.run(["docker", *words], capture_output=True, text=True, check=False, env=environment)
