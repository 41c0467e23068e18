"""Small runs with settings of the agent."""

from pathlib import Path
from typing import Any

from graphwalk.runs.experiment import load_experiment
from graphwalk.runs.folder import NewRun
from graphwalk.runs.play import start_run
from graphwalk.runs.progress import Progress
from graphwalk.runs.record import Result
from graphwalk.runs.resolve import resolve
from graphwalk.variables import Variables

SUITES: dict[str, dict[str, Any]] = {
    "questions": {"name": "questions", "graphs": [{"nodes": 20}]},
    "node_by_property": {"name": "questions", "graphs": [{"nodes": 20}], "questions": ["node_by_property"]},
    "mazes": {"name": "mazes", "mazes": [{"size": 4, "walls": 0.3, "min_path": 4}]},
}


async def play(
    folder: Path, suite: str, agent: dict[str, Any], models: list[str], objects: dict[str, Any] | None = None
) -> list[Result]:
    """Play a small run; return its results."""
    experiment = {"name": "small", "suite": SUITES[suite], "agent": agent, "seed": 5, "models": models}
    new = NewRun.make("run", folder / "run")
    await start_run(resolve(load_experiment(experiment), Variables(), objects=objects), new, Progress())
    return [Result.from_dict(record) for record in new.folder.records()]
