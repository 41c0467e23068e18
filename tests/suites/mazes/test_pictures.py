"""Mazes and walks as pictures: text and SVG."""

import json
import re
from xml.etree import ElementTree

import pytest
from inline_snapshot import snapshot
from rich.console import Console

from graphwalk.suites.mazes.pictures import draw, draw_with_keys, maze_svg
from graphwalk.suites.mazes.score import MazeEpisode, walk_of
from graphwalk.types.chat import ToolCall
from graphwalk.types.episode import ToolResult
from tests.suites.mazes.stage import SMALL

SVG = "{http://www.w3.org/2000/svg}"
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
    kinds = [rect.get("class") for rect in root.findall(f"{SVG}rect")][: 16 + 1]  # those of the legend come after
    assert (kinds.count("wall"), kinds.count("hit"), kinds.count("visited")) == (4, 1, 4)
    labels = [text.text for text in root.findall(f"{SVG}text")][:7]
    assert labels == ["0", "1", "2", "3", "4", "S", "G"]
    assert [path.get("class") for path in root.findall(f"{SVG}path")][:4] == ["path", "path", "path leap", "path"]
    assert not list(root.iter(f"{SVG}script")) + list(root.iter(f"{SVG}img"))


def test_numbered_walls() -> None:
    assert draw_with_keys(SMALL, "numbered") == snapshot("""\
+-----------------+
|  S0   1   2   3 |
|  #4  #5  #6   7 |
|  G8   9 #10  11 |
| #12  13  14  15 |
+-----------------+\
""")
    assert draw_with_keys(SMALL, "numbered").count("#") == len(SMALL.walls)
