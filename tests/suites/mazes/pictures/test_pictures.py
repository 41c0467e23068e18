"""Mazes and walks as pictures: text, SVG, and an animation that a real browser plays."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from graphwalk.suites.mazes.pictures.animation import walk_html
from inline_snapshot import snapshot
from rich.console import Console

from graphwalk.suites.mazes.episodes import MazeEpisode
from graphwalk.suites.mazes.pictures.drawing import draw, draw_with_keys
from graphwalk.suites.mazes.pictures.svg import maze_svg
from graphwalk.suites.mazes.walk import walk_of
from graphwalk.types.chat import ToolCall
from graphwalk.types.episode import ToolResult
from tests.suites.mazes.stage import SMALL

SVG = "{http://www.w3.org/2000/svg}"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)> & \" ' <!-- ]]> \u2028 \x07"


def calls(*node_ids: str) -> list[ToolResult]:
    walls = {str(wall) for wall in SMALL.walls}
    return [
        ToolResult(
            ToolCall("1", "get_next_possible_cells", json.dumps({"node_id": key})),
            "[]",
            "wall" if key in walls else None,
        )
        for key in node_ids
    ]


def episode(title: str = "somebody", path: tuple[int, ...] = (0, 1, 2, 3, 7)) -> MazeEpisode:
    return MazeEpisode(title, SMALL, walk_of(SMALL, calls("0", "1", "5", "2", "9", "3", "2")), path, "wrong goal")


def test_drawing_for_models() -> None:
    assert draw_with_keys(SMALL) == snapshot("""\
+-----------------+
|  S0   1   2   3 |
|  ##  ##  ##   7 |
|  G8   9  ##  11 |
|  ##  13  14  15 |
+-----------------+\
""")


def test_drawing_for_people() -> None:
    one = episode()
    drawn = draw(one.maze, one.walk.visited, one.path, one.hit)
    assert drawn.plain == snapshot("""\
+--------+
|S ● ● ● |
|██▒▒██● |
|G · ██  |
|██      |
+--------+\
""")
    assert draw(one.maze, known={0, 1, 4, 5}).plain == snapshot("""\
+--------+
|S   ░░░░|
|████░░░░|
|G ░░░░░░|
|░░░░░░░░|
+--------+\
""")


@pytest.mark.parametrize("color", [True, False])
def test_colour_only_helps(color: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    console = Console(force_terminal=True, no_color=not color, color_system="truecolor", width=60)
    with console.capture() as captured:
        console.print(draw(SMALL, path=[0, 1]))
    text = captured.get()
    assert bool(re.search(r"\x1b\[[0-9;]*3[0-9]", text)) == color
    assert re.sub(r"\x1b\[[0-9;]*m", "", text).rstrip() == draw(SMALL, path=[0, 1]).plain.rstrip()


def test_svg_shows_walls_order_and_path() -> None:
    one = episode(path=(0, 1, 2, 9, -1, 8))
    root = ElementTree.fromstring(maze_svg(one.maze, one.walk.visited, one.path, one.hit, title=HOSTILE))
    kinds = [rect.get("class") for rect in root.findall(f"{SVG}rect")]
    assert len(kinds) == 16 + 1
    assert (kinds.count("wall"), kinds.count("hit"), kinds.count("visited")) == (4, 1, 4)
    labels = [text.text for text in root.findall(f"{SVG}text")]
    assert labels == ["0", "1", "2", "3", "4", "S", "G"]
    assert [path.get("class") for path in root.findall(f"{SVG}path")] == ["path", "path", "path leap", "path"]
    assert not list(root.iter(f"{SVG}script")) + list(root.iter(f"{SVG}img"))


class _Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_the_page_needs_nothing_from_elsewhere_and_hostile_text_stays_text() -> None:
    page = walk_html([episode(HOSTILE)], HOSTILE)
    tags = _Tags(page).found
    assert [tag for tag, _ in tags].count("script") == 2
    assert "img" not in [tag for tag, _ in tags]
    assert not [attrs for _, attrs in tags if {"src", "href", "onerror"} & attrs.keys()]
    assert not re.findall(r"https?://(?!www\.w3\.org/2000/svg)", page)
    policy = next(attrs["content"] for tag, attrs in tags if "http-equiv" in attrs)
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy


@pytest.fixture
def browse(tmp_path: Path) -> Any:
    """A function: page, fragment → the page as a browser has it after some seconds of its own time."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip(f"none of {', '.join(BROWSERS)} is installed")

    def dump(page: str, fragment: str, seconds: int) -> str:
        file = tmp_path / "page.html"
        file.write_text(page, encoding="utf-8")
        options = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")
        asked = [
            *(browser, *options, f"--user-data-dir={tmp_path / 'profile'}"),
            *(f"--virtual-time-budget={seconds * 1000}", "--dump-dom", f"{file.as_uri()}{fragment}"),
        ]
        return subprocess.run(asked, capture_output=True, text=True, timeout=120, check=True).stdout

    return dump


def state(dom: str) -> tuple[str, str, str]:
    step, name = re.search(r'data-step="(\d+)" data-state="(\w+)"', dom).groups()  # type: ignore[union-attr]
    caption = re.search(r'<p id="caption"[^>]*>([^<]*)<', dom)
    return step, name, caption[1] if caption else ""


def test_a_browser_plays_the_animation_to_its_end(browse: Any) -> None:
    page = walk_html([episode()], "Walks")
    still = browse(page, "", 5)
    assert state(still) == ("0", "paused", "Before the first call")
    assert still.count('class="wall"') == 5
    playing = browse(page, "#play", 1)
    step, name, caption = state(playing)
    assert name == "playing"
    assert 0 < int(step) < 8
    assert caption.startswith(f"Call {step} of 7")
    end = browse(page, "#play", 20)
    assert state(end) == ("8", "finished", "Answer: wrong goal")
    assert end.count('class="answer"') == 1 + 4  # the legend, and four steps
    assert end.count('class="jump"') == 1 + 1
    assert end.count('class="hit"') == 1 + 1


def test_a_browser_obeys_no_text_of_a_model(browse: Any) -> None:
    dom = browse(walk_html([episode(HOSTILE), episode("other")], HOSTILE), "#play", 20)
    assert "<title>&lt;/script&gt;" in dom
    assert "<img" not in dom
    assert dom.count("<option") == 2
    assert state(dom)[1] == "finished"
