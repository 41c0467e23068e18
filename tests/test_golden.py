"""Fixed seeds give what they gave in earlier versions, byte for byte: tasks, prompts, transcripts, scores.

`data/golden.json` holds their digests, and those of the prompts, tools and questions that the runs read.
"""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from graphwalk.analysis.explained import explained
from graphwalk.runs.experiment import load_experiment
from graphwalk.runs.folder import NewRun, RunFolder
from graphwalk.runs.play import start_run
from graphwalk.runs.progress import Progress
from graphwalk.runs.record import ResultRecord
from graphwalk.runs.resolve import resolve
from graphwalk.variables import Variables
from tests.accepted import DATA, GOLDEN, differences

WALL_CLOCK = frozenset({"seconds", "elapsed_in_tools"})
ACCEPTED = json.loads(GOLDEN.read_text())


def _scripted(*names: str) -> list[str]:
    return [f"scripted/{name}" for name in names]


MAZE_AGENTS = ("expert", "depth_first", "random", "flawed")
RUNS: dict[str, tuple[str, int | None, dict[str, Any]]] = {
    "quickstart": ("quickstart", 1, {"models": _scripted("expert", "flawed")}),
    "mazes": ("paper-table-1", 4, {"seed": 3, "models": _scripted(*MAZE_AGENTS)}),
    "magma": ("magma", 1, {"seed": 3, "models": _scripted("expert", "random")}),
    "odd": (str(DATA / "odd.yaml"), None, {}),
}
"""Experiment, graphs of each kind, fields."""


def digests(results: Iterable[ResultRecord]) -> dict[str, str]:
    """SHA-256 of each part of a run, whatever the order of its log and the time that it took."""
    parts: dict[str, list[Any]] = {"tasks": [], "prompts": [], "transcripts": [], "scores": []}
    for r in sorted(results, key=lambda r: (r["task_id"], r["model"], r["setting"], r["repeat"])):
        parts["tasks"].append([r["task"], r["graph"]])
        parts["prompts"].append(r["trajectory"]["prompt"])
        parts["transcripts"].append(untimed(r["trajectory"]["turns"]))
        parts["scores"].append([r["answer"], r["score"], r["exit_status"]])

    by_part = {}
    for part, content in parts.items():
        text = json.dumps(content, sort_keys=True)
        by_part[part] = hashlib.sha256(text.encode()).hexdigest()
    return by_part


def untimed(value: Any) -> Any:
    """Return a value without the fields that hold wall time, at any depth."""
    if isinstance(value, list):
        return [untimed(item) for item in value]
    if isinstance(value, dict):
        return {name: untimed(item) for name, item in value.items() if name not in WALL_CLOCK}
    return value


async def play(name: str, path: Path, workers: int = 8) -> RunFolder:
    experiment, graphs, flags = RUNS[name]
    config = load_experiment(experiment, flags={**flags, "limits.max_concurrency": workers}, graphs=graphs)
    new = NewRun.make(config.name, path)
    await start_run(resolve(config, Variables()), new, Progress())
    return new.folder


@pytest.mark.parametrize(
    "name",
    [
        # `odd` has the same suite with odd graphs, and the table of the README is that of the quickstart.
        pytest.param("quickstart", marks=pytest.mark.extended),
        *(name for name in RUNS if name != "quickstart"),
    ],
)
async def test_fixed_seeds_give_what_they_always_gave(name: str, tmp_path: Path) -> None:
    run = await play(name, tmp_path / "run")
    changed = differences(digests(explained(run)), ACCEPTED["runs"][name], name)
    texts = run.read_manifest()["fingerprint"]["texts"]
    accepted = {file: ACCEPTED["texts"].get(file) for file in texts}
    assert not changed, "\n".join([changed, differences(texts, accepted, "Texts")])
