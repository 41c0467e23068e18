"""What must not leave a machine with a run: secrets, home folders, paths, addresses of servers."""

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, NamedTuple

from graphwalk.environment import Environment
from graphwalk.redaction import LOOKS_LIKE_KEYS, credentials_in

_HOME = re.compile(
    r"(?:(?<![\w.])(?:/home|/Users)/[^/\s\"'<>|:,;)\]}\\]+)|(?:\b[A-Za-z]:\\{1,2}Users\\{1,2}[^\\\s\"'<>|]+)"
)
_HIDDEN = "***"
_SHOWN = 6


class Found(NamedTuple):
    """Something that looks like a key: where, what, and how it begins."""

    place: str
    what: str
    shown: str


@dataclass
class Cleaner:
    """Takes out of texts what is private. `removed` counts it by kind; `refused` is what only a person can judge.

    `redact`: secrets of the environment, and what looks like a key, are taken out too. `folder` is the working
    directory, whose path becomes `.`.
    """

    environment: Environment
    redact: bool = False
    folder: Path | None = None
    removed: Counter[str] = field(default_factory=Counter)
    refused: list[Found] = field(default_factory=list)

    def text(self, text: str, place: str) -> str:
        if not self.redact and (variable := self.environment.secret_in(text)):
            self.refused.append(Found(place, f"the value of {variable}", _HIDDEN))
        known = text
        for what, pattern in LOOKS_LIKE_KEYS.items():
            if pattern.search(known):
                known = self._without_key(known, what, pattern, place)
        without = self.environment.redact(known)
        self.removed["secrets"] += without is not known
        known = without
        here = "" if self.folder is None or len(self.folder.parts) < 3 else str(self.folder)
        if here and here in known:
            self.removed["paths"] += known.count(here)
            known = known.replace(here, ".")
        if "/home/" in known or "Users" in known:
            known, homes = _HOME.subn("~", known)
            self.removed["paths"] += homes
        return known

    def record(self, value: Any, place: str) -> Any:
        """A JSON value with all its texts cleaned."""
        if isinstance(value, str):
            return self.text(value, place)
        if isinstance(value, dict):
            return {self.text(name, place): self.record(item, place) for name, item in value.items()}
        return [self.record(item, place) for item in value] if isinstance(value, list) else value

    def know_credentials(self, manifest: dict[str, Any]) -> None:
        """Take the credentials in the settings of a run for secrets: runs of earlier versions may hold some."""
        config = manifest.get("config", {})
        settings = {"options": config.get("options"), "model_arguments": config.get("model_arguments")}
        found = {}
        for place, value in credentials_in(settings):
            if self.redact and isinstance(value, str):
                found[f"{place}, a key"] = value
            else:
                self.refused.append(Found("run.json", place, _HIDDEN))
        self.environment = Environment({**self.environment.variables, **found}, self.environment.from_file)

    def manifest(self, manifest: dict[str, Any]) -> dict[str, Any]:
        """`run.json`, in which of every path only the name of the file is left, and no address of a server."""
        cleaned = self._without_paths(self.record(manifest, "run.json"))
        for config in (cleaned.get("config"), (cleaned.get("fingerprint") or {}).get("config")):
            if isinstance(config, dict) and config.get("servers"):
                self.removed["addresses of servers"] += len(config["servers"])
                config["servers"] = {}
        return dict(cleaned)

    def _without_paths(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self._without_paths(item) for name, item in value.items()}
        if isinstance(value, list):
            return [self._without_paths(item) for item in value]
        if isinstance(value, str) and (name := _file_of(value)):
            self.removed["paths"] += 1
            return f"./{name}"
        return value

    def _without_key(self, text: str, what: str, pattern: re.Pattern[str], place: str) -> str:
        if self.redact:
            text, number = pattern.subn(_HIDDEN, text)
            self.removed["what looks like a key"] += number
        else:
            self.refused += [Found(place, what, f"{match[0][:_SHOWN]}…") for match in pattern.finditer(text)]
        return text


def _file_of(text: str) -> str:
    """The name of the file that an absolute path leads to; "" for any other text."""
    if "\n" in text or len(text) > 4096:
        return ""
    for path in (PurePosixPath(text), PureWindowsPath(text)):
        if (path.is_absolute() or text.startswith("~/")) and path.name:
            return path.name
    return ""
