"""Where `graphwalk db up` writes down how its Neo4j is reached, for every later command to find."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from graphwalk.environment import Environment
from graphwalk.errors import StoreError


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
    state = environment.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(home).expanduser() if home else Path(state).expanduser() / "graphwalk"


def state_file(environment: Environment) -> Path:
    return state_folder(environment) / "server.json"


def read_state(environment: Environment) -> LocalServer | None:
    """What `db up` started and `db down` did not stop; None if nothing. StoreError if the file is damaged."""
    file = state_file(environment)
    try:
        fields = json.loads(file.read_text(encoding="utf-8"))
        return LocalServer(**{**fields, "folder": Path(fields["folder"])})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise StoreError(f"{file} is damaged", hint=f"remove {file}, then: graphwalk db up") from error


def write_state(environment: Environment, server: LocalServer) -> None:
    write_private(state_file(environment), json.dumps({**asdict(server), "folder": str(server.folder)}))


def write_private(file: Path, text: str) -> None:
    """A file that only its owner can read, replaced in one step."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    scratch = file.with_name(file.name + ".new")
    scratch.unlink(missing_ok=True)
    scratch.touch(mode=0o600)
    scratch.write_text(text, encoding="utf-8")
    scratch.replace(file)
