"""Tasks about large graphs, kept on disk: what took minutes to work out is read in seconds when it is asked for again.

A file is named after all that its tasks depend on: graph, questions, how they are drawn, and the code that does it. It
is there whole or not at all, so that any number of processes can share the folder, and it can be deleted at any time.
"""

import hashlib
import inspect
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from graphwalk.errors import GraphwalkError
from graphwalk.files import write_whole
from graphwalk.resources import PACKAGE, data_path
from graphwalk.suites.questions.catalogue import QuestionKind
from graphwalk.suites.questions.task import QuestionTask

LARGE = 2_000
"""Nodes from which on a graph's tasks are kept: those of smaller ones are made as fast as read."""
MOST_BYTES = 4 << 30
"""Of the folder; what was not read for longest goes first."""
_CODE = (
    "encodings.py",
    "graphs/generate.py",
    "jinja.py",
    "models/tokens.py",
    "stores",
    "suites/reference.py",
    "suites/questions",
    "toolbox",
    "types",
)
_TEXTS = ("prompts", "questions")

Left = dict[str, str]
"""What a graph cannot host → why."""
Make = Callable[[], Awaitable[tuple[list[QuestionTask], Left]]]


class TaskCache:
    """A folder of them; None keeps nothing."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    async def of(
        self, about: Mapping[str, Any], kinds: Iterable[QuestionKind], make: Make
    ) -> tuple[list[QuestionTask], Left]:
        """Read the tasks about a graph, or make and keep them. `about`: what they depend on besides that."""
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
            pass  # a disk that is full costs time alone
        return tasks, left_out


def _read(path: Path) -> tuple[list[QuestionTask], Left] | None:
    """Return None where nothing is kept, or the file is damaged."""
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
    """SHA-256 of the code and the texts that tasks and reference walks come from."""
    places = [
        *(PACKAGE / part for part in _CODE),
        *(data_path("templates") / part for part in _TEXTS),
        data_path("tools"),
    ]
    files = sorted(file for place in places for file in (place.rglob("*") if place.is_dir() else [place]))
    sha = hashlib.sha256()
    for file in files:
        if file.suffix in (".py", ".yaml", ".j2"):
            sha.update(file.read_bytes())
    return sha.hexdigest()


def _written(kind: QuestionKind) -> list[str]:
    """A question: its YAML, and the text of the Python part, which may be another package's."""
    part = kind.python
    code = "" if part is None else Path(inspect.getfile(inspect.unwrap(part.rows))).read_text(encoding="utf-8")
    return [kind.file.text, code]
