"""What comes from environment variables: keys, addresses, passwords. No other module reads them.

A `.env` file in the working directory adds variables that the process does not have.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from dotenv import dotenv_values

from graphwalk.errors import ConfigError
from graphwalk.sanitise import Secrets

TOKEN_VARIABLE = "GRAPHWALK_MCP_TOKEN"


@dataclass(frozen=True)
class Environment:
    """Variables of the environment; empty values count as unset."""

    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    from_file: frozenset[str] = frozenset()
    """Names of those that only `.env` says."""
    neo4j_auth: Any = field(default=None, repr=False)
    """An object of the Neo4j driver in place of the variables: `neo4j.bearer_auth(token)`, an auth manager, …"""

    def get(self, name: str, default: str | None = None) -> str | None:
        return self.variables.get(name) or default

    def serving(self, servers: Mapping[str, str]) -> "Environment":
        """The same with the base URLs of these servers in place of what is said by NAME_BASE_URL."""
        said = {f"{server_variable(name)}_BASE_URL": url for name, url in servers.items()}
        return (
            replace(self, variables={**self.variables, **said}, from_file=self.from_file - said.keys())
            if said
            else self
        )

    def require(self, name: str, purpose: str) -> str:
        """ConfigError that names the variable where it is not set."""
        value = self.get(name)
        if value is None:
            raise ConfigError(f"{name} is not set: {purpose}", hint=f"export {name}=…   (or write it into .env)")
        return value

    def check_receiver(self, address: str, secret: str) -> None:
        """ConfigError where only `.env` names the address, and the secret to be sent there comes from elsewhere.

        `.env` is that of the working directory, which may be somebody else's repository.
        """
        if address in self.from_file and self.get(secret) is not None and secret not in self.from_file:
            raise ConfigError(
                f"{address} is set by .env in this folder, and {secret} is not: it would be sent to a server that the "
                "folder names",
                hint=f"if that is meant, export {address} too, or write {secret} into .env",
            )

    @property
    def model(self) -> str | None:
        """The model that plays where none is named."""
        return self.get("GRAPHWALK_MODEL")

    @property
    def neo4j_uri(self) -> str | None:
        return self.get("NEO4J_URI")

    @property
    def neo4j_username(self) -> str:
        return self.get("NEO4J_USERNAME", "neo4j") or "neo4j"

    @property
    def neo4j_password(self) -> str | None:
        return self.get("NEO4J_PASSWORD")

    @property
    def neo4j_authentication(self) -> str:
        """The scheme: basic, bearer, kerberos, none, or one of a plug-in of the server."""
        return self.get("NEO4J_AUTHENTICATION", "basic") or "basic"

    @property
    def neo4j_database(self) -> str | None:
        return self.get("NEO4J_DATABASE")

    @property
    def plans_folder(self) -> Path | None:
        """Where tasks about large graphs are kept; None with GRAPHWALK_CACHE=off."""
        if self.get("GRAPHWALK_CACHE") == "off":
            return None
        home = self.get("GRAPHWALK_HOME")
        if home is not None:
            return Path(home).expanduser() / "plans"
        import platformdirs  # not needed by most commands

        return platformdirs.user_cache_path("graphwalk", appauthor=False) / "plans"

    @property
    def mcp_token(self) -> str | None:
        """What clients of `graphwalk mcp --transport http` have to know."""
        return self.get(TOKEN_VARIABLE)

    @cached_property
    def secrets(self) -> Secrets:
        """The secrets among the variables, and functions that remove them from text."""
        return Secrets(self.variables)


def without_ray_statistics() -> None:
    """Ray reports to its makers unless it is told not to, before it is imported."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")


def server_variable(server: str) -> str:
    """How the variables of a server begin: `my-lab` → MY_LAB."""
    return re.sub(r"\W", "_", server).upper()


def read_environment(folder: Path | None = None) -> Environment:
    """Variables of the environment, and of `.env` in `folder` (default: the working directory) below it."""
    file = (folder or Path.cwd()) / ".env"
    from_file = {name: value for name, value in dotenv_values(file).items() if value} if file.is_file() else {}
    own = {name: value for name, value in os.environ.items() if value}
    return Environment({**from_file, **own}, frozenset(from_file.keys() - own.keys()))
