"""Address of the local Neo4j: that of `graphwalk db up`, else that of docker-compose.yml."""

import socket
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import platformdirs
import psutil
from pydantic import TypeAdapter

from graphwalk.errors import StoreError
from graphwalk.files.writing import write_whole
from graphwalk.variables import Variables

COMPOSE_PASSWORD = "graphwalk-local"
"""The default in docker-compose.yml. It is no secret: the port is open to this machine only."""
_HELLO = bytes.fromhex("6060b017" + "00000005" + "00020404" + "00000004" + "00000003")
"""The Bolt preamble and four proposals of protocol versions."""


@dataclass(frozen=True)
class LocalServer:
    """A Neo4j on this machine. `pid` is None where Docker runs it; `folder` holds its data, log and password."""

    how: Literal["docker", "jars"]
    release: str
    version: str
    port: int
    password: str = field(repr=False)
    folder: Path
    pid: int | None = None

    @property
    def uri(self) -> str:
        return f"bolt://127.0.0.1:{self.port}"


def state_folder(variables: Variables) -> Path:
    """Return the folder of `graphwalk db`: GRAPHWALK_HOME, else the user's state folder."""
    home = variables.get("GRAPHWALK_HOME")
    return Path(home).expanduser() if home else platformdirs.user_state_path("graphwalk", appauthor=False)


def state_file(variables: Variables) -> Path:
    return state_folder(variables) / "server.json"


def read_state(variables: Variables) -> LocalServer | None:
    """Return the server of `db up`, None if there is none. Raise StoreError if its file is damaged."""
    file = state_file(variables)
    try:
        return TypeAdapter(LocalServer).validate_json(file.read_bytes(), extra="forbid")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise StoreError(f"{file} is damaged", hint=f"remove {file}, then: graphwalk db up") from error


def local_server(variables: Variables) -> tuple[str, str] | None:
    """Return address and password of the server of `db up`, or of docker-compose.yml; None if there is neither.

    A server of `db up` that has ended, as after a restart of the machine, comes last.
    """
    server = read_state(variables)
    address = None if server is None else (server.uri, server.password)
    if server is not None and (server.pid is None or psutil.pid_exists(server.pid)):
        return address
    return compose_server(variables) or address


def compose_server(variables: Variables) -> tuple[str, str] | None:
    """Return address and password of the server of docker-compose.yml; None if it does not answer."""
    port = variables.get("GRAPHWALK_NEO4J_PORT", "7687") or ""
    if not port.isdecimal() or int(port) > 65535 or not answers_bolt(int(port)):
        return None
    return f"bolt://127.0.0.1:{int(port)}", variables.neo4j_password or COMPOSE_PASSWORD


def answers_bolt(port: int, seconds: float = 2.0) -> bool:
    """Return True if a server on that port answers a Bolt handshake with a version."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=seconds) as link:
            link.sendall(_HELLO)
            version = link.recv(4)
            return len(version) == 4 and version[0] == 0 and version != b"\0\0\0\0"
    except OSError:
        return False


def write_state(variables: Variables, server: LocalServer) -> None:
    write_private(state_file(variables), TypeAdapter(LocalServer).dump_json(server).decode())


def write_private(file: Path, text: str) -> None:
    """Write a file that only its owner can read. Raise StoreError if it cannot be written."""
    write_whole(file, [text], private=True, parents=True, error=StoreError)
