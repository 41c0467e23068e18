"""CONTRIBUTING.md names the files and functions through which the name of a model passes on its way to the request."""

import asyncio
import json
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import CO_ASYNC_GENERATOR
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest
from typer.testing import CliRunner

import graphwalk
from graphwalk.cli.app import app
from tests.models.server import Answer, ModelServer, chat

ROOT = Path(__file__).parents[2]
PACKAGE = Path(graphwalk.__file__).parent
REQUEST, LINE = re.findall(
    r"(?:^\| `graphwalk/[\w/]+\.py` \| .*\n)+", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE
)
FUNCTIONS = {
    (file, name)
    for file, names in re.findall(r"^\| `graphwalk/([\w/]+\.py)` \| .* \| (.*) \|$", REQUEST, re.MULTILINE)
    for name in re.findall(r"`(\w+)`", names)
}
STARTED_BY = {"cli/app.py", "terminal/signals.py"}
"""Files that start any command and any coroutine: no name of a model passes through them."""
NAME = "walker-of-this-test"
MODEL = f"openai-api/road/{NAME}"


def holds_name(value: Any) -> bool:
    """Return True for the name, an object that has it, and a configuration or a sequence that contains it."""
    fields = getattr(value, "__dict__", {})
    texts = [value, fields.get("name")]
    for sequence in (value, fields.get("models")):
        texts += sequence if isinstance(sequence, list | tuple) else []
    return any(isinstance(text, str) and text in (NAME, MODEL, f"road/{NAME}") for text in texts)


class Road:
    """The functions of the package that return the name or its model, or wait for the first request to be sent."""

    def __init__(self) -> None:
        self.waiting: set[tuple[str, str]] = set()
        self.return_name: set[tuple[str, str]] = set()
        self.return_model: set[tuple[str, str]] = set()
        self.sent = False

    def take(self, frame: FrameType, event: str, value: Any) -> None:
        """Take an event of `sys.setprofile`."""
        if self.sent:
            return
        if event == "call" and frame.f_code.co_filename.endswith("openai/_base_client.py"):
            if frame.f_code.co_name == "post":
                self.sent = True
                self.waiting |= {own for code in waiting(frame) if (own := function(code))}
            return
        if frame.f_code.co_flags & CO_ASYNC_GENERATOR:  # Python wraps what it yields
            value = tuple(frame.f_locals.values())
        if event == "return" and (own := function(frame.f_code)) and holds_name(value):
            self.return_name.add(own)
            if hasattr(value, "complete"):
                self.return_model.add(own)


def function(code: CodeType) -> tuple[str, str] | None:
    """Return file and name of a function of the package; the class for `complete` of a wrapper."""
    path = Path(code.co_filename)
    if not path.is_relative_to(PACKAGE) or code.co_name.startswith("<"):
        return None
    file, parts = path.relative_to(PACKAGE).as_posix(), code.co_qualname.split(".")
    return file, parts[-2] if file == "models/wrappers.py" and parts[-1] == "complete" else parts[-1]


def waiting(frame: FrameType | None) -> Iterator[CodeType]:
    """Yield the code of all that waits for a frame: its callers, and the coroutines of all tasks of the only episode."""
    while frame is not None:
        yield frame.f_code
        frame = frame.f_back
    for task in asyncio.all_tasks():
        coroutine: Any = task.get_coro()
        while coroutine is not None:
            if (code := getattr(coroutine, "cr_code", None) or getattr(coroutine, "ag_code", None)) is not None:
                yield code
            coroutine = getattr(coroutine, "cr_await", None) or getattr(coroutine, "ag_await", None)


@contextmanager
def model_server() -> Iterator[str]:
    """Run a server in a thread of its own, and yield its address."""
    ready, addresses = threading.Event(), list[str]()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        async with ModelServer(lambda request: Answer(json.dumps(chat("[]")).encode())) as server:
            addresses.append(server.url)
            ready.set()
            await stopped.wait()

    stopped = asyncio.Event()
    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    try:
        assert ready.wait(30)
        yield addresses[0]
    finally:
        loop.call_soon_threadsafe(stopped.set)
        thread.join()
        loop.close()


def test_a_model_passes_through_the_listed_functions_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    road, before = Road(), sys.getprofile()
    with model_server() as address:
        monkeypatch.setenv("ROAD_BASE_URL", address)
        arguments = f"run quickstart -m {MODEL} --limit 1 --setting tools --out".split()
        sys.setprofile(road.take)
        try:
            outcome = CliRunner().invoke(app, [*arguments, str(tmp_path / "run")])
        finally:
            sys.setprofile(before)
    assert road.sent, outcome.exception
    waiting = {(file, name) for file, name in road.waiting if file not in STARTED_BY}
    assert waiting | road.return_model <= FUNCTIONS
    assert waiting | road.return_name >= FUNCTIONS


def test_few_files_and_calls_lead_to_the_request() -> None:
    assert len({file for file, _ in FUNCTIONS}) <= 12
    assert len(FUNCTIONS) <= 25
    assert f"{len(FUNCTIONS)} calls" in (ROOT / "CONTRIBUTING.md").read_text("utf-8")


def test_every_file_of_a_line_is_imported_by_the_named_one() -> None:
    rows = re.findall(r"^\| `graphwalk/([\w/]+\.py)` \| .* \| `([\w/]+\.py)`(.*) \|$", LINE, re.MULTILINE)
    assert rows
    for file, importer, by_name in rows:
        source = (PACKAGE / importer).read_text("utf-8")
        module = "graphwalk." + file.removesuffix(".py").replace("/", ".")
        assert f'"{module}:' in source if by_name else f"from {module} import" in source, f"{importer}: no {file}"
