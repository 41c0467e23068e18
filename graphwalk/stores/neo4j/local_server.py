"""How to reach the Neo4j that `graphwalk db up` started, written down for every later command."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import platformdirs

from graphwalk.environment import Environment
from graphwalk.errors import StoreError
from graphwalk.files import write_whole


@dataclass(frozen=True)
class LocalServer:
    """A Neo4j on this machine. `pid` is None where Docker runs it; `folder` holds its data, log and password."""

    how: Literal["docker", "jars"]
    release: str
    version: str
    port: int
    password: str
    folder: Path
    pid: int | None = None

    @property
    def uri(self) -> str:
        return f"bolt://127.0.0.1:{self.port}"

    def __repr__(self) -> str:
        return f"LocalServer({self.how}, Neo4j {self.version}, {self.uri})"


def state_folder(environment: Environment) -> Path:
    """The folder of `graphwalk db`: GRAPHWALK_HOME, else the user's state folder."""
    home = environment.get("GRAPHWALK_HOME")
    return Path(home).expanduser() if home else platformdirs.user_state_path("graphwalk", appauthor=False)


def state_file(environment: Environment) -> Path:
    return state_folder(environment) / "server.json"


def read_state(environment: Environment) -> LocalServer | None:
    """The server that `db up` started and `db down` has not stopped, or None. StoreError if the file is damaged."""
    file = state_file(environment)
    try:
        fields = json.loads(file.read_text(encoding="utf-8"))
        return LocalServer(**{**fields, "folder": Path(fields["folder"])})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise StoreError(f"{file} is damaged", hint=f"remove {file}, then: graphwalk db up") from error


def write_state(environment: Environment, server: LocalServer) -> None:
    write_private(state_file(environment), json.dumps({**asdict(server), "folder": str(server.folder)}))


def write_private(file: Path, text: str) -> None:
    """A file in a folder that only its owner can read. StoreError where it cannot be written."""
    write_whole(file, [text], private=True, parents=True, error=StoreError)
