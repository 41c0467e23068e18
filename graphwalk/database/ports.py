"""Loopback ports: which are free, and which answer as a Bolt server does."""

import socket

_HELLO = bytes.fromhex("6060b017" + "00000005" + "00020404" + "00000004" + "00000003")
"""The Bolt preamble and four proposals of protocol versions."""


def answers_bolt(port: int, seconds: float = 2.0) -> bool:
    """True if a server on that port answers a Bolt handshake with a version."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=seconds) as link:
            link.sendall(_HELLO)
            version = link.recv(4)
            return len(version) == 4 and version[0] == 0 and version != b"\0\0\0\0"
    except OSError:
        return False


def is_taken(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return True
    return False


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
