"""Mazes and walks as pictures."""

import json
from pathlib import Path

from inline_snapshot import snapshot

from graphwalk.suites.mazes.scene import draw
from graphwalk.suites.mazes.score import MazeEpisode, walk_of
from graphwalk.types.chat import ToolCall
from graphwalk.types.episode import ToolResult
from tests.commands import graphwalk
from tests.suites.mazes.stage import SMALL


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


def test_drawing_for_people() -> None:
    walk = walk_of(SMALL, calls("0", "1", "5", "2", "9", "3", "2"))
    episode = MazeEpisode("title", SMALL, walk, (0, 1, 2, 3, 7), "wrong goal")
    assert draw(SMALL, walk.visited, episode.path, episode.hit).plain == snapshot("""\
+--------+
|S ● ● ● |
|██▒▒██● |
|G · ██  |
|██      |
+--------+\
""")


def test_episodes_of_a_run_are_drawn(tmp_path: Path) -> None:
    run, models = tmp_path / "run", ("-m", "scripted/expert", "-m", "scripted/random")
    done = graphwalk("run", "paper-table-1", *models, "--setting", "tools", "--graphs", 1, "--out", run)
    assert done.returncode == 0, done.stderr
    drawn = graphwalk("show", run, "maze-0-0", "-m", "scripted/expert")
    assert drawn.returncode == 0, drawn.stderr
    assert drawn.stdout.count("scripted/expert · tools · ") == drawn.stdout.count("valid, ") == 1
    assert "2 results rescored, 0 scores changed" in graphwalk("rescore", run).stderr
