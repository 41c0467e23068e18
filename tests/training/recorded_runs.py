"""Small runs of experts that chats are made from."""

import json
from pathlib import Path
from typing import Any

from graphwalk.runs.experiment import load_experiment
from graphwalk.runs.folder import NewRun
from graphwalk.runs.play import start_run
from graphwalk.runs.progress import Progress
from graphwalk.runs.resolve import resolve
from graphwalk.training.traces import TraceEpisodes, read_run
from graphwalk.variables import Variables

QUESTIONS = {"name": "questions", "graphs": [{"nodes": 20}], "questions": ["node_count", "path_from_specific_node"]}
MAZES = {"name": "mazes", "mazes": [{"size": 5, "min_path": 4}]}
MAGMA = {"name": "magma", "traces": [{"algorithm": ["bfs", "dijkstra", "dfs"], "nodes": 5, "count": 1}]}


async def recorded(folder: Path, suite: dict[str, Any], *players: str, **fields: Any) -> TraceEpisodes:
    models = [f"scripted/{player}" for player in players or ("expert",)]
    config = load_experiment({"name": "traces", "suite": suite, "models": models, **fields})
    new = NewRun.make(config.name, folder)
    await start_run(resolve(config, Variables()), new, Progress())
    return await read_run(new.folder, Variables())


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]
