"""Pages too large for one file, and pages with very many episodes."""

from dataclasses import replace
from pathlib import Path

from graphwalk.runs.run_folder import RunFolder
from graphwalk.serve.page import BUNDLE, RunContent, content_of, write_page
from tests.serve.page.browser import Browser
from tests.serve.page.conftest import RUNS


def repeated(content: RunContent, number: int) -> RunContent:
    """Return the run with `number` episodes: its own, as further repeats."""
    every = content.episodes
    episodes = [
        replace(one, key=one.key._replace(repeat=turn))
        for turn in range(-(-number // len(every)))
        for one in every[: number - turn * len(every)]
    ]
    return replace(content, episodes=episodes)


def test_beyond_the_largest_page_there_is_a_folder(browser: Browser, tmp_path: Path) -> None:
    content = repeated(content_of(RunFolder.open(RUNS / "mazes")), BUNDLE + 3)
    page = write_page([content], tmp_path / "run.html", largest=0)
    assert page == tmp_path / "run" / "index.html"
    assert sorted(path.name for path in (tmp_path / "run" / "episodes").iterdir()) == ["0.js", "1.js"]
    for number in (0, BUNDLE + 2):
        browser.open(f"{page.as_uri()}#view=episode&e={number}")
        assert browser.run("document.querySelectorAll('.turn').length") > 0
    assert browser.complaints == []
