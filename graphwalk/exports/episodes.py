"""Reading of episodes and writing of files, for all exports."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from graphwalk.analysis.explained import explained
from graphwalk.runs.folder import RunFolder
from graphwalk.runs.record import EpisodeFilter, EpisodeKey, Result, key_of


def whole(value: Any) -> Any:
    """Return JSON that every reader accepts: half a character becomes �, NaN and the infinities become text."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if isinstance(value, dict):
        return {whole(name): whole(item) for name, item in value.items()}
    return [whole(item) for item in value] if isinstance(value, list) else value


@dataclass(frozen=True)
class Episodes:
    """Episodes of a run folder that pass a filter; `on_read` is called after each one that was read."""

    folder: RunFolder
    only: EpisodeFilter = field(default_factory=EpisodeFilter)
    on_read: Callable[[], object] = field(default=lambda: None)

    @cached_property
    def keys(self) -> dict[EpisodeKey, int]:
        """Return the log line of each episode, the last one if it was repeated. Raise ConfigError if there is none."""
        played = {key: n for n, key in enumerate(map(key_of, self.folder.records()))}
        lines = {key: n for key, n in played.items() if self.only(key)}
        if not lines:
            raise self.only.nothing(self.folder.path, played)
        return lines

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[Result]:
        counts = set(self.keys.values())
        for number, record in enumerate(explained(self.folder)):
            if number in counts:
                # Halves of characters, which models may write, are in no other program's files.
                yield Result.from_dict(whole(record))
                self.on_read()
