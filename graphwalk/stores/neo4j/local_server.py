"""The Neo4j of `graphwalk db up` or docker-compose.yml: on a loopback port, with a password that needs no setting."""

import socket

from graphwalk.errors import ConfigError
from graphwalk.variables import Variables

DEFAULT_PASSWORD = "graphwalk-local"
"""The default in docker-compose.yml. It is no secret: the port is open to this machine only."""
_HELLO = bytes.fromhex("6060b017" + "00000005" + "00020404" + "00000004" + "00000003")
"""The Bolt preamble and four proposals of protocol versions."""


def local_port(variables: Variables) -> int:
    """Return GRAPHWALK_NEO4J_PORT, by default 7687."""
    port = variables.get("GRAPHWALK_NEO4J_PORT") or "7687"
    if not port.isdecimal() or not 0 < int(port) < 65536:
        raise ConfigError(f"GRAPHWALK_NEO4J_PORT is {port!r}, not a port", hint="GRAPHWALK_NEO4J_PORT=7687")
    return int(port)


def local_password(variables: Variables) -> str:
    """Return NEO4J_PASSWORD, else the default."""
    return variables.get("NEO4J_PASSWORD") or DEFAULT_PASSWORD


def local_server(variables: Variables) -> tuple[str, str] | None:
    """Return address and password of the local server; None if it does not answer."""
    port = local_port(variables)
    return (f"bolt://127.0.0.1:{port}", local_password(variables)) if answers_bolt(port) else None


def answers_bolt(port: int, seconds: float = 2.0) -> bool:
    """Return True if a server on that port answers a Bolt handshake with a version."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=seconds) as link:
            link.sendall(_HELLO)
            version = link.recv(4)
            return len(version) == 4 and version[0] == 0 and version != b"\0\0\0\0"
    except OSError:
        return False
