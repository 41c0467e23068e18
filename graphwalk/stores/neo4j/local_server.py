"""The Neo4j of `graphwalk db up` or docker-compose.yml: on a loopback port, with a password that needs no setting."""

import socket

from graphwalk.errors import ConfigError
from graphwalk.variables import Variables

DEFAULT_PORT = 7687
DEFAULT_PASSWORD = "graphwalk-local"
"""The default in docker-compose.yml. It is no secret: the port is open to this machine only."""
_HELLO = bytes.fromhex("6060b017" + "00000005" + "00020404" + "00000004" + "00000003")
"""The Bolt preamble and four proposals of protocol versions."""
_SHORTEST_PASSWORD = 8


def local_port(variables: Variables) -> int:
    """Return GRAPHWALK_NEO4J_PORT, by default 7687."""
    port = variables.get("GRAPHWALK_NEO4J_PORT") or str(DEFAULT_PORT)
    if not port.isdecimal() or not 0 < int(port) < 65536:
        raise ConfigError(f"GRAPHWALK_NEO4J_PORT is {port!r}, not a port", hint="GRAPHWALK_NEO4J_PORT=7687")
    return int(port)


def local_password(variables: Variables) -> str:
    """Return NEO4J_PASSWORD, else the default."""
    return variables.get("NEO4J_PASSWORD") or DEFAULT_PASSWORD


def check_first_password(password: str) -> None:
    """Raise ConfigError for a password that Neo4j, its image or its command line does not take as a first one.

    The image reads user/password, and the command that sets it takes a first "-" or "@" for an option or a file.
    """
    if len(password) < _SHORTEST_PASSWORD:
        problem = f"it has {len(password)} characters, and Neo4j wants at least {_SHORTEST_PASSWORD}"
    elif "/" in password:
        problem = 'it contains "/"'
    elif password[0] in "-@":
        problem = f'it begins with "{password[0]}"'
    elif not password.isprintable():
        problem = "it contains a character that cannot be printed"
    else:
        return
    raise ConfigError(
        f"NEO4J_PASSWORD cannot be the password of a new Neo4j: {problem}",
        hint='at least 8 characters, none of them "/", the first neither "-" nor "@"',
    )


def local_server(variables: Variables) -> tuple[str, str] | None:
    """Return address and password of the local server; None if it does not answer."""
    port = local_port(variables)
    if not answers_bolt(port):
        return None
    return f"bolt://127.0.0.1:{port}", local_password(variables)


def answers_bolt(port: int, seconds: float = 2.0) -> bool:
    """Return True if a server on that port answers a Bolt handshake with a version."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=seconds) as link:
            link.sendall(_HELLO)
            version = link.recv(4)
            return len(version) == 4 and version[0] == 0 and version != b"\0\0\0\0"
    except OSError:
        return False
