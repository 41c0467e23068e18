"""Small runs with levers, and single tools."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graphwalk.config.agent import AgentConfig
from graphwalk.runs.experiment import load_experiment
from graphwalk.runs.folder import NewRun
from graphwalk.runs.play import start_run
from graphwalk.runs.progress import Progress
from graphwalk.runs.record import Result
from graphwalk.runs.resolve import resolve
from graphwalk.suites.questions.catalogue import shipped_kinds
from graphwalk.types.chat import ToolCall, ToolSpec
from graphwalk.types.episode import ToolResult
from graphwalk.variables import Variables

KINDS = list(shipped_kinds())
SUITES: dict[str, dict[str, Any]] = {
    "every kind": {"name": "questions", "graphs": [{"nodes": 20}], "questions": KINDS},
    "questions": {"name": "questions", "graphs": [{"nodes": 20}]},
    "node_by_property": {"name": "questions", "graphs": [{"nodes": 20}], "questions": ["node_by_property"]},
    "mazes": {"name": "mazes", "mazes": [{"size": 4, "walls": 0.3, "min_path": 4}]},
    "graphwalks": {"name": "graphwalks", "problems": [{"nodes": 12}]},
    "own_questions": {"name": "own_questions"},
}


async def play(folder: Path, suite: str | dict[str, Any], agent: dict[str, Any], **fields: Any) -> list[Result]:
    """Play a small run; return its results."""
    objects = fields.pop("objects", None)
    experiment = {
        "name": "levers",
        "suite": SUITES[suite] if isinstance(suite, str) else suite,
        "agent": agent,
        "seed": 5,
        **fields,
    }
    new = NewRun.make("run", folder / "run")
    await start_run(resolve(load_experiment(experiment), Variables(), objects=objects), new, Progress())
    return [Result.from_dict(record) for record in new.folder.records()]


class Shown:
    """Tools without behaviour: a call returns the next of `results`."""

    ordered = False

    def __init__(self, *results: ToolResult, specs: Sequence[ToolSpec] = ()) -> None:
        self.specs, self.results, self.calls = specs, list(results), list[ToolCall]()

    async def call(self, call: ToolCall) -> ToolResult:
        self.calls.append(call)
        return self.results.pop(0) if len(self.results) > 1 else self.results[0]


def call(tool: str, **arguments: Any) -> ToolCall:
    return ToolCall("1", tool, json.dumps(arguments))


AGENT = AgentConfig()
