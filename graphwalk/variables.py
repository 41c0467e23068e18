"""Environment variables: keys, addresses, passwords.

A `.env` file in the working directory adds variables that are not set in the process.
"""

import os
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import Any

from graphwalk.errors import ConfigError
from graphwalk.sanitise import Secrets

TOKEN_VARIABLE = "GRAPHWALK_MCP_TOKEN"
"""The token that clients of `graphwalk mcp --transport http` must send."""
MODEL_VARIABLE = "GRAPHWALK_MODEL"
"""The default model."""


@dataclass(frozen=True)
class Variables:
    """Environment variables; empty values count as unset."""

    values: Mapping[str, str] = field(default_factory=dict, repr=False)
    from_file: frozenset[str] = frozenset()
    """Names of variables that are only in `.env`."""
    neo4j_auth: Any = field(default=None, repr=False)
    """An object of the Neo4j driver in place of the variables: `neo4j.bearer_auth(token)`, an auth manager, …"""
    callbacks: Sequence[Any] = field(default=(), repr=False)
    """Handlers of LangChain that episodes are reported to, beside those of the environment."""

    def get(self, name: str) -> str | None:
        return self.values.get(name) or None

    def serving(self, servers: Mapping[str, str]) -> "Variables":
        """Return a copy with the base URLs of these servers in place of NAME_BASE_URL."""
        values = dict(self.values)
        from_file = set(self.from_file)
        for name, url in servers.items():
            # {"my-lab": "http://localhost:8000/v1"} sets MY_LAB_BASE_URL.
            variable = f"{server_variable(name)}_BASE_URL"
            values[variable] = url
            # An address that the caller has named is trusted, whatever `.env` says of this variable.
            from_file.discard(variable)
        return replace(self, values=values, from_file=frozenset(from_file))

    def require(self, name: str, purpose: str) -> str:
        """Return a variable. Raise ConfigError with its name if it is not set."""
        value = self.get(name)
        if value is None:
            raise ConfigError(f"{name} is not set: {purpose}", hint=f"export {name}=…   (or set it in .env)")
        return value

    def check_receiver(self, address: str, secret: str) -> None:
        """Raise ConfigError if the address is only in `.env` and the secret for it is not.

        `.env` belongs to the working directory, which may be a foreign repository.
        """
        if address in self.from_file and self.get(secret) is not None and secret not in self.from_file:
            raise ConfigError(
                f"{secret} would be sent to {address}, which is set by the .env file of this folder",
                hint=f"to allow it, export {address} too, or set {secret} in .env",
            )

    @cached_property
    def secrets(self) -> Secrets:
        """The secrets among the variables, and functions that remove them from text."""
        return Secrets(self.values)


def without_ray_statistics() -> None:
    """Turn off the usage statistics of Ray; call this before Ray is imported."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")


def process_variable(name: str) -> str | None:
    """Return a variable of the process, which a foreign `.env` cannot set."""
    return os.environ.get(name) or None


def process_environment(**changes: str) -> dict[str, str]:
    """Return the environment for a program that is started: that of the process, with changes."""
    return {**os.environ, **changes}


def server_variable(server: str) -> str:
    """Return the prefix of a server's variables: `my-lab` → MY_LAB."""
    return re.sub(r"\W", "_", server).upper()


def read_variables(folder: Path | None = None) -> Variables:
    """Read environment variables, and those that only `.env` in `folder` has (default: the working directory).

    Raise ConfigError if `.env` is not text in UTF-8, or in UTF-16 with its mark.
    """
    from_file: dict[str, str] = {}
    file = (folder or Path.cwd()) / ".env"
    if file.is_file():
        from dotenv import dotenv_values  # takes 20 ms

        try:
            content = file.read_bytes()
            encoding = "utf-16" if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig"
            text = content.decode(encoding)
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{file} cannot be read: {error}", hint="save it as text in UTF-8") from error
        from_file = {name: value for name, value in dotenv_values(stream=StringIO(text)).items() if value}

    from_process = {name: value for name, value in os.environ.items() if value}
    only_in_file = frozenset(from_file.keys() - from_process.keys())
    return Variables({**from_file, **from_process}, only_in_file)
