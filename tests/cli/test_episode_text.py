"""Scenes on a terminal: mazes, calls and evidence, without control characters of foreign texts."""

import io

import pytest
from inline_snapshot import snapshot
from rich.console import Console

from graphwalk.analysis.scene import SceneCall, SceneGrid, SceneStep
from graphwalk.cli.episode_text import call_table, drawn_grid
from tests.suites.mazes.stage import SMALL

HOSTILE = "<script>alert(1)</script>&\"'\x1b[31m\u202e"


def test_drawing_for_people() -> None:
    kinds = {0: "visit", 1: "visit", 2: "visit", 3: "visit", 5: "wall"}
    steps = [SceneStep("", cell=cell, sort=kind) for cell, kind in kinds.items()]
    grid = SceneGrid(SMALL.size, SMALL.walls, SMALL.start, SMALL.goal, (0, 1, 2, 3, 7))
    assert drawn_grid(grid, steps).plain == snapshot("""\
+--------+
|S ● ● ● |
|██▒▒██● |
|G   ██  |
|██      |
+--------+\
""")


@pytest.mark.parametrize("brief", [False, True])
@pytest.mark.parametrize("error", [None, "bad"])
def test_control_characters_of_a_call_are_escaped(error: str | None, brief: bool) -> None:
    console = Console(width=80, record=True, file=io.StringIO())
    call = SceneCall(HOSTILE, {HOSTILE: HOSTILE}, 1, error, 0.0, HOSTILE, "I look.", [{"values": HOSTILE}])
    console.print(call_table(1, call, brief=brief))
    text = console.export_text()
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "<script>" in text
