"""The episodes of a run as an exporter sees them: chosen, each once, in the order of the log, one at a time."""

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from graphwalk.errors import ConfigError
from graphwalk.exports.plain_json import whole
from graphwalk.files import make_folder
from graphwalk.runlog.chosen import Chosen
from graphwalk.runlog.listing import heads
from graphwalk.runlog.result import EpisodeKey, Result, key_of
from graphwalk.runlog.run_folder import RunFolder
from graphwalk.suites.registry import suite_named
from graphwalk.suites.suite import Suite

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_NAME = 120


@dataclass(frozen=True)
class Episodes:
    """Episodes of a run folder; `chosen` says which, and `told` is called after each one that was read."""

    folder: RunFolder
    chosen: Chosen = field(default_factory=Chosen)
    told: Callable[[], object] = field(default=lambda: None)

    @cached_property
    def manifest(self) -> dict[str, Any]:
        return self.folder.read_manifest()

    @cached_property
    def suite(self) -> Suite[Any, Any]:
        return suite_named(self.manifest["config"]["suite"]["name"])

    @cached_property
    def keys(self) -> dict[EpisodeKey, int]:
        """The number of the line that counts, for each episode: one that was played again stands there twice.

        ConfigError where there is none.
        """
        played = {key: n for n, key in enumerate(map(key_of, heads(self.folder)))}
        lines = {key: n for key, n in played.items() if self.chosen(key)}
        if not lines:
            raise self.chosen.nothing(self.folder.path, played)
        return lines

    @property
    def quiet(self) -> "Episodes":
        """The same for a first look at all of them, of which nobody is told."""
        return Episodes(self.folder, self.chosen)

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[Result]:
        counts = set(self.keys.values())
        for number, record in enumerate(self.folder.records()):
            if number in counts:
                # Halves of characters, which models may write, are in no other program's files.
                yield Result.from_dict(whole(record))
                self.told()


def file_name(*words: str, ending: str) -> str:
    """A file name for something that is called by these words; other words, other name."""
    said = "\x1f".join(words)
    plain = _UNSAFE.sub("-", "_".join(words)).strip("-.")[:_LONGEST_NAME]
    digest = hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:8]
    return f"{plain}-{digest}{ending}"


def new_folder(path: Path) -> Path:
    """A folder for many files. ConfigError where something is in it: files of two exports would be mixed."""
    make_folder(path)
    if any(path.iterdir()):
        raise ConfigError(f"{path} is not empty", hint="choose a new folder")
    return path
