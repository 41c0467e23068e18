"""Task cache: tasks about large graphs on disk, because drawing them takes minutes.

A file name is the hash of all that its tasks depend on: graph, questions, drawing options and code. Files are written
atomically, so that processes can share the folder, and can be deleted at any time.
"""

import hashlib
import inspect
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

from graphwalk.errors import GraphwalkError
from graphwalk.files import write_whole
from graphwalk.resources import PACKAGE, data_path
from graphwalk.suites.questions.catalogue import QuestionKind
from graphwalk.suites.questions.task import QuestionTask

LARGE = 2_000
"""Minimum nodes of a graph whose tasks are cached."""
MOST_BYTES = 4 << 30
"""Maximum size of the folder; the least recently used files are deleted."""
Left = dict[str, str]
"""Skipped question → reason."""
Make = Callable[[], Awaitable[tuple[list[QuestionTask], Left]]]


class TaskCache:
    """A folder with cached tasks; None disables the cache."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    async def of(
        self, about: Mapping[str, Any], kinds: Iterable[QuestionKind], make: Make
    ) -> tuple[list[QuestionTask], Left]:
        """Return the cached tasks, or make and cache them. `about` contains graph and drawing options."""
        if self._folder is None:
            return await make()
        words = json.dumps([about, code_digest(), [_written(kind) for kind in kinds]], sort_keys=True, default=str)
        path = self._folder / f"{hashlib.sha256(words.encode()).hexdigest()}.jsonl"
        if (kept := _read(path)) is not None:
            return kept
        tasks, left_out = await make()
        try:
            lines = (f"{task.model_dump_json()}\n" for task in tasks)
            write_whole(path, [json.dumps(left_out) + "\n", *lines], parents=True)
            _make_room(self._folder)
        except (GraphwalkError, OSError, UnicodeError):
            pass  # without the cache a run is only slower
        return tasks, left_out


def _read(path: Path) -> tuple[list[QuestionTask], Left] | None:
    """Return the tasks of a file, or None if it is missing or damaged."""
    try:
        first, *lines = path.read_text(encoding="utf-8").splitlines()
        tasks = [QuestionTask.model_validate_json(line) for line in lines]
        path.touch()
        return tasks, dict(json.loads(first))
    except (OSError, ValueError):
        return None


def _make_room(folder: Path) -> None:
    kept = sorted((path.stat().st_mtime, path.stat().st_size, path) for path in folder.glob("*.jsonl"))
    left = sum(size for _, size, _ in kept)
    for _, size, path in kept:
        if left > MOST_BYTES:
            path.unlink(missing_ok=True)
            left -= size


@cache
def code_digest() -> str:
    """Return the SHA-256 of the code and texts that tasks and reference walks depend on."""
    templates = data_path("templates")
    folders = (PACKAGE, templates / "prompts", templates / "questions", data_path("tools"))
    files = sorted(file for folder in folders for file in folder.rglob("*") if file.suffix in (".py", ".yaml", ".j2"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def _written(kind: QuestionKind) -> list[str]:
    """Return the YAML of a question and the text of its Python part, which may be in another package."""
    part = kind.python
    code = "" if part is None else Path(inspect.getfile(cast("Any", part))).read_text(encoding="utf-8")
    return [kind.file.text, code]
