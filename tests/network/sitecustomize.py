"""Python programs that tests start reach this machine only, and resolve no names: an audit hook refuses.

The tests put this folder on PYTHONPATH; what was tried is written into the file GRAPHWALK_TRIED_NETWORK, since a
program may swallow the refusal. Programs that are not Python (a database server, a browser) are not seen here.
"""

import os
import sys
from ipaddress import ip_address

_ALLOWED = {"", "localhost", "0.0.0.0", "::", *os.environ.get("GRAPHWALK_ALLOWED_HOSTS", "").split(",")}


def is_here(host: object) -> bool:
    """True for this machine and for the hosts that the user allowed."""
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else host
    if name is None or name in _ALLOWED:
        return True
    try:
        return ip_address(str(name).partition("%")[0]).is_loopback
    except ValueError:
        return False


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    if event in ("socket.connect", "socket.sendto"):
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else ""
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = arguments[0]
    else:
        return
    if is_here(host):
        return
    tried = os.environ.get("GRAPHWALK_TRIED_NETWORK")
    if tried:
        with open(tried, "a") as file:  # noqa: PTH123 -- nothing is imported in a hook
            file.write(f"{event} {host!r}: {' '.join(sys.argv)[:200]}\n")
    raise ConnectionRefusedError(f"tests reach no host but this machine: {event} {host!r}")


sys.addaudithook(_refuse)
