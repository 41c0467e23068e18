"""Runs that were logged long ago, as pages in a real browser."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from graphwalk.analysis.page import content_of, write_page
from graphwalk.files.json_lines import encode_line, read_lines
from graphwalk.runs.folder import RunFolder
from tests.analysis.page.browser import BROWSERS, Browser, find_browser
from tests.cli.test_ask import FILMS
from tests.forked_commands import graphwalk

RUNS = Path(__file__).parents[2] / "data" / "runs"
Change = Callable[[dict[str, Any]], dict[str, Any]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that open a page in a browser."""
    for item in items:
        if "window" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")


@pytest.fixture(scope="session")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if find_browser() is None:
        pytest.skip(f"none of {', '.join(BROWSERS)} is installed")
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture
def browser(window: Browser) -> Browser:
    """A wide window that has complained of nothing yet."""
    window.window(1280, 900)
    window.messages.clear()
    return window


@pytest.fixture(scope="session")
def page_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """A function: names of suites → the address of a page with their runs."""
    addresses: dict[tuple[str, ...], str] = {}

    def address(*suites: str) -> str:
        if suites not in addresses:
            runs = [content_of(RunFolder.open(RUNS / suite)) for suite in suites]
            file = tmp_path_factory.mktemp("pages") / "page.html"
            write_page(runs, file)
            addresses[suites] = file.as_uri()
        return addresses[suites]

    return address


@pytest.fixture(scope="session")
def question_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of `graphwalk ask`, which none of the runs logged long ago is."""
    folder = tmp_path_factory.mktemp("asked")
    question = "Who acted in the quiet harbour?"
    done = graphwalk("ask", question, "--graph", FILMS, "-m", "scripted/look", "--out", "run", folder=folder)
    assert done.returncode == 0, done.stderr
    return folder / "run"


def changed_run(
    suite: str | Path, folder: Path, change: Change, manifest: Change = lambda content: content
) -> RunFolder:
    """A copy of a run, logged long ago or in a folder of its own, with every record changed."""
    shutil.copytree(RUNS / suite, folder)
    run = RunFolder.open(folder, conversations=True)
    run.results_path.write_bytes(b"".join(encode_line(change(record)) for record in read_lines(run.results_path)))
    run.write_manifest(manifest(run.read_manifest()))
    return run
