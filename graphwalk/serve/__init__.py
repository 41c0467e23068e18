"""The MCP server of a graph (the extra `mcp`), and the page of runs."""

LOOPBACK = "127.0.0.1"


def loopback_names(port: int) -> set[str]:
    """Return the values of a Host header that mean this machine.

    A server refuses all others, so that a page in a browser cannot reach it through a domain of its own.
    """
    return {f"{name}:{port}" for name in (LOOPBACK, "localhost", "[::1]")}
