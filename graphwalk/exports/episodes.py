"""Reading of episodes and writing of files, for all exports."""

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from graphwalk.errors import ConfigError
from graphwalk.files.writing import make_folder
from graphwalk.runs.listing import heads
from graphwalk.runs.result import EpisodeFilter, EpisodeKey, Result, key_of
from graphwalk.runs.run_folder import RunFolder
from graphwalk.suites.suite import Suite
from graphwalk.types.chat import Message, ToolCall
from graphwalk.types.episode import ToolResult, Turn


def whole(value: Any) -> Any:
    """Return JSON that every reader accepts: half a character becomes �, NaN and the infinities become text."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if isinstance(value, dict):
        return {whole(name): whole(item) for name, item in value.items()}
    return [whole(item) for item in value] if isinstance(value, list) else value


def without_none(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_NAME = 120


@dataclass(frozen=True)
class Episodes:
    """Episodes of a run folder that pass a filter; `on_read` is called after each one that was read."""

    folder: RunFolder
    only: EpisodeFilter = field(default_factory=EpisodeFilter)
    on_read: Callable[[], object] = field(default=lambda: None)

    @cached_property
    def manifest(self) -> dict[str, Any]:
        return self.folder.read_manifest()

    @cached_property
    def suite(self) -> Suite[Any, Any]:
        return self.folder.suite

    @cached_property
    def keys(self) -> dict[EpisodeKey, int]:
        """Return the log line of each episode, the last one if it was repeated. Raise ConfigError if there is none."""
        played = {key: n for n, key in enumerate(map(key_of, heads(self.folder)))}
        lines = {key: n for key, n in played.items() if self.only(key)}
        if not lines:
            raise self.only.nothing(self.folder.path, played)
        return lines

    @property
    def quiet(self) -> "Episodes":
        """Return the same episodes without a callback, for a first pass."""
        return replace(self, on_read=lambda: None)

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[Result]:
        counts = set(self.keys.values())
        for number, record in enumerate(self.folder.records()):
            if number in counts:
                # Halves of characters, which models may write, are in no other program's files.
                yield Result.from_dict(whole(record))
                self.on_read()


class EpisodeMessage(NamedTuple):
    """A message, with the `turn` and `result` that it comes from, if any."""

    message: Message
    turn: Turn | None = None
    result: ToolResult | None = None


def messages_of(result: Result) -> Iterator[EpisodeMessage]:
    """Yield prompt, replies, tool results and later messages of the user, in order; nothing is summarised."""
    yield from (EpisodeMessage(message) for message in result.trajectory.prompt)
    for turn in result.trajectory.turns:
        yield EpisodeMessage(turn.message, turn)
        for output in turn.results:
            yield EpisodeMessage(Message("tool", output.content, tool_call_id=output.call.id), turn, output)
        if turn.next_user is not None:
            yield EpisodeMessage(Message("user", turn.next_user), turn)


def calls_of(turn: Turn) -> list[ToolCall]:
    """Return the calls of a turn, once each: those of the message first, then those read from its text."""
    calls = {call.id: call for call in (*turn.message.tool_calls, *(result.call for result in turn.results))}
    return list(calls.values())


def read_arguments(call: ToolCall) -> tuple[dict[str, Any], str | None]:
    """Return (arguments, None), or ({}, problem)."""
    try:
        arguments = json.loads(call.arguments or "{}", parse_constant=str)
    except (ValueError, RecursionError) as error:
        return {}, f"the arguments are no JSON: {error}"
    if not isinstance(arguments, dict):
        return {}, f"the arguments are no JSON object, but {type(arguments).__name__}"
    return whole(arguments), None


def is_language_model(name: str) -> bool:
    return not name.startswith(("scripted/", "replay/"))


def file_name(*words: str, ending: str) -> str:
    """Return a file name for these words; other words give another name."""
    plain = _UNSAFE.sub("-", "_".join(words)).strip("-.")[:_LONGEST_NAME]
    digest = hashlib.sha256("\x1f".join(words).encode("utf-8", "replace")).hexdigest()[:8]
    return f"{plain}-{digest}{ending}"


def new_folder(path: Path) -> Path:
    """Make a folder for many files. ConfigError where it is not empty, or the folder around it does not exist."""
    make_folder(path, parents=False)
    if any(path.iterdir()):
        raise ConfigError(f"{path} is not empty", hint="choose a new folder")
    return path
