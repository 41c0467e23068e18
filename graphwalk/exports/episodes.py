"""The episodes of a run as an exporter sees them: chosen, each once, in the order of the log, one at a time."""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from graphwalk.errors import ConfigError
from graphwalk.exports.plain_json import whole
from graphwalk.files import make_folder, new_file, write_whole
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
    """Episodes of a run folder; `chosen` says which, and `told` is called after each one that was read.

    `per_episode`: a format that writes one file per model writes one per episode.
    """

    folder: RunFolder
    chosen: Chosen = field(default_factory=Chosen)
    told: Callable[[], object] = field(default=lambda: None)
    per_episode: bool = False

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
        return replace(self, told=lambda: None)

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


def write_files(episodes: Episodes, out: Path, suffix: str, text: Callable[[Result], Iterable[str]]) -> None:
    """Write the `text` of episodes into one file per model, or per episode.

    `out` is a new folder, or the file where there is only one. ConfigError for one file where there are several.
    """

    def group(key: EpisodeKey) -> tuple[object, ...]:
        return key if episodes.per_episode else (episodes.manifest["name"], key.model)

    groups = set(map(group, episodes.keys))
    single = out.suffix == suffix and len(groups) == 1
    if out.suffix in (".json", ".jsonl") and not single:
        each = "episode" if episodes.per_episode else "model"
        alone = f"--out {out.with_suffix(suffix)}   or  " if len(groups) == 1 else ""
        raise ConfigError(
            f"{out} cannot be written: there is one {suffix} file per {each}, {len(groups)} in all",
            hint=f"{alone}--out {out.with_suffix('')}   for a new folder; --model and --task choose episodes",
        )
    folder = out.parent if single else new_folder(out)
    paths = {one: out if single else folder / file_name(*map(str, one), ending=suffix) for one in groups}
    if episodes.per_episode:
        for result in episodes:
            write_whole(paths[result.key], text(result))
        return
    with ExitStack() as stack:
        files = {one: stack.enter_context(new_file(path)) for one, path in paths.items()}
        for result in episodes:
            files[group(result.key)].writelines(part.encode() for part in text(result))


def new_folder(path: Path) -> Path:
    """Make a folder for many files. ConfigError where it is not empty, or the folder around it does not exist."""
    make_folder(path, parents=False)
    if any(path.iterdir()):
        raise ConfigError(f"{path} is not empty", hint="choose a new folder")
    return path
