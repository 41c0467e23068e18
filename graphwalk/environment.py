"""What comes from the environment: keys, addresses, passwords. No other module reads the environment.

A `.env` file in the working directory fills in what the environment does not say. Values of variables that look like
secrets, and user information in URLs, never reach a log: `redact` takes them out of any text.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from dotenv import dotenv_values

from graphwalk.errors import ConfigError

TOKEN_VARIABLE = "GRAPHWALK_MCP_TOKEN"
_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|AUTH)", re.IGNORECASE)
_URL_USER = re.compile(r"(?<=://)[^/\s:@]+:[^/\s@]+(?=@)")
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}")
_SHORTEST_SECRET = 6
"""Shorter values ("local", "1") would take ordinary words out of the logs."""


@dataclass(frozen=True)
class Environment:
    """Variables of the environment; empty values count as unset."""

    variables: Mapping[str, str] = field(default_factory=dict, repr=False)

    def get(self, name: str, default: str | None = None) -> str | None:
        return self.variables.get(name) or default

    def serving(self, servers: Mapping[str, str]) -> "Environment":
        """The same with the base URLs of these servers in place of what is said by NAME_BASE_URL."""
        said = {f"{server_variable(name)}_BASE_URL": url for name, url in servers.items()}
        return Environment({**self.variables, **said}) if said else self

    def require(self, name: str, purpose: str) -> str:
        """ConfigError that names the variable where it is not set."""
        value = self.get(name)
        if value is None:
            raise ConfigError(f"{name} is not set: {purpose}", hint=f"export {name}=…   (or write it into .env)")
        return value

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
    def neo4j_database(self) -> str | None:
        return self.get("NEO4J_DATABASE")

    @property
    def mcp_token(self) -> str | None:
        """What clients of `graphwalk mcp --transport http` have to know."""
        return self.get(TOKEN_VARIABLE)

    @cached_property
    def _secrets(self) -> tuple[str, ...]:
        values = {v for name, v in self.variables.items() if _SECRET_NAME.search(name) and len(v) >= _SHORTEST_SECRET}
        return tuple(sorted(values, key=len, reverse=True))

    def redact(self, text: str) -> str:
        """The text without secrets; same text (the same object) where there is none."""
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, "***")
        if "://" in text:
            text = _URL_USER.sub("***", text)
        lower = text.lower()
        if "bearer" in lower or "basic" in lower:
            text = _BEARER.sub(r"\1 ***", text)
        return text

    def redact_record(self, value: Any) -> Any:
        """A JSON value without secrets in any of its texts."""
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, dict):
            return {name: self.redact_record(item) for name, item in value.items()}
        return [self.redact_record(item) for item in value] if isinstance(value, list | tuple) else value


def server_variable(server: str) -> str:
    """How the variables of a server begin: `my-lab` → MY_LAB."""
    return re.sub(r"\W", "_", server).upper()


def read_environment(folder: Path | None = None) -> Environment:
    """Variables of the environment, and of `.env` in `folder` (default: the working directory) below it."""
    file = (folder or Path.cwd()) / ".env"
    from_file = {name: value for name, value in dotenv_values(file).items() if value} if file.is_file() else {}
    return Environment({**from_file, **{name: value for name, value in os.environ.items() if value}})
