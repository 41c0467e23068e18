"""The servers that are compared: how each is started, and how it is asked."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphwalk.settings import Settings
from graphwalk.version import __version__

VENVS = Path(__file__).parents[2] / ".venv-peers"
Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Contestant:
    """One server. `schema`: its call for the schema; None: it comes with the session. `query`: its call for Cypher."""

    name: str
    settings: str
    command: str
    words: tuple[str, ...]
    variables: Mapping[str, str]
    schema: Call | None
    query: Callable[[str], Call] | None


def contestants(settings: Settings) -> list[Contestant]:
    """Ours, and the peers in their read-only mode, all against one database."""
    uri, password = settings.neo4j_uri or "", settings.neo4j_password or ""
    login = {"NEO4J_URI": uri, "NEO4J_USERNAME": settings.neo4j_username, "NEO4J_PASSWORD": password}
    official = {
        **{name.replace("NEO4J_", "NEO4J_MCP_"): value for name, value in login.items()},
        "NEO4J_MCP_READ_ONLY": "true",
        "NEO4J_MCP_TELEMETRY": "false",
        "NEO4J_MCP_DATABASE": "neo4j",
    }
    return [
        Contestant(
            f"graphwalk {__version__}",
            "`graphwalk mcp --database neo4j`",
            sys.executable,
            ("-m", "graphwalk", "mcp", "--database", "neo4j"),
            login,
            None,
            None,
        ),
        Contestant(
            "neo4j-mcp-server 1.6.1",
            "read-only, telemetry off, else as it comes",
            str(VENVS / "official" / "bin" / "neo4j-mcp-server"),
            (),
            official,
            ("get-schema", {}),
            lambda cypher: ("read-cypher", {"query": cypher}),
        ),
        Contestant(
            "mcp-neo4j-cypher 0.6.0",
            "`--read-only --schema-sample-size 1000` (the documented default, which it lacks unless told), "
            "else as it comes: 30 s for a query, no token limit",
            str(VENVS / "cypher" / "bin" / "mcp-neo4j-cypher"),
            ("--read-only", "--schema-sample-size", "1000", "--transport", "stdio"),
            {**login, "NEO4J_DATABASE": "neo4j"},
            ("get_neo4j_schema", {}),
            lambda cypher: ("read_neo4j_cypher", {"query": cypher}),
        ),
    ]
