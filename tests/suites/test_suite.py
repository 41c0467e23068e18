"""Fields of scores, the times of an episode, and what a played run imports."""

import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import create_model

from graphwalk.analysis.suite_analysis import Explanation
from graphwalk.errors import ConfigError
from graphwalk.models.chat import Message, ToolCall
from graphwalk.models.trajectory import ExitStatus, ToolResult, Trajectory, Turn
from graphwalk.suites.suite import EXPLAINED, Score

ROOT = Path(__file__).parents[2]


def test_calls_side_by_side_take_the_time_that_passed() -> None:
    calls = tuple(ToolResult(ToolCall(str(n), "look", "{}"), "[]", rows=0, seconds=5.0) for n in range(2))
    turns = (
        Turn(Message("assistant"), seconds=1.0, results=calls, elapsed_in_tools=6.0),
        Turn(Message("assistant"), seconds=1.0),
    )
    trajectory = Trajectory((), turns, ExitStatus.ANSWERED)
    assert (trajectory.seconds, trajectory.tool_seconds) == (8.0, 10.0)


@pytest.mark.parametrize("field", ["correct", "lossy", *Explanation.model_fields])
def test_a_field_with_the_name_of_one_of_ours_is_refused_where_a_score_is_defined(field: str) -> None:
    assert set(EXPLAINED) == set(Explanation.model_fields)
    with pytest.raises(ConfigError, match=f"Own has fields with names of ours: {field}"):
        create_model("Own", __base__=Score, **{field: (int, 0)})


PLAY = """
import asyncio, sys
from pathlib import Path
from graphwalk.runs.experiment import load_experiment
from tests.runs.runs import start

SMALL = {
    "quickstart": {"suite.graphs.*.count": 1, "suite.graphs.*.nodes": 20, "suite.questions": ["node_count"]},
    "maze-size": {"suite.mazes": [{"size": 6, "min_path": 4, "count": 1}], "settings": ["tools"]},
    "magma": {"suite.traces": [{"algorithm": ["bfs"], "nodes": [5], "count": 1}]},
    "graphwalks": {"suite.problems": [{"nodes": 12, "count": 1}]},
    "own-questions": {},
}

async def play():
    folder, name = Path(sys.argv[1]), sys.argv[2]
    summary = await start(folder / name, load_experiment(name, flags={"limit": 1, **SMALL[name]}))
    assert summary.finished > 0

asyncio.run(play())
print(*(name for name in sys.modules if name.startswith("graphwalk.analysis") or name.endswith(".report")))
"""


@pytest.mark.parametrize(
    "experiment",
    [
        "quickstart",
        pytest.param("maze-size", marks=pytest.mark.extended),
        pytest.param("magma", marks=pytest.mark.extended),
        pytest.param("graphwalks", marks=pytest.mark.extended),
        pytest.param("own-questions", marks=pytest.mark.extended),
    ],
)
def test_a_played_run_imports_no_report_and_no_analysis(experiment: str, tmp_path: Path) -> None:
    printed = subprocess.check_output([sys.executable, "-c", PLAY, tmp_path, experiment], text=True, cwd=ROOT)
    assert printed == "\n"
