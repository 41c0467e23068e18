"""Small runs of scripted agents, and their logs."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphwalk.files.json_lines import encode_line
from graphwalk.runs.experiment import AnyExperiment, load_experiment
from graphwalk.runs.folder import NewRun, RunFolder
from graphwalk.runs.play import RunSummary, resume_run, start_run
from graphwalk.runs.progress import Progress
from graphwalk.runs.record import Result
from graphwalk.runs.resolve import resolve
from graphwalk.variables import Variables

NOTHING_SET = Variables()


@dataclass
class Notes(Progress):
    """A progress that keeps the notes."""

    notes: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        self.notes.append(text)


def experiment(**flags: Any) -> AnyExperiment:
    """The quickstart on one small graph."""
    return load_experiment("quickstart", flags={"suite.graphs.*.count": 1, "suite.graphs.*.nodes": 40, **flags})


async def start(
    folder: Path, config: AnyExperiment, variables: Variables = NOTHING_SET, progress: Any = None
) -> RunSummary:
    new = NewRun.make(config.name, folder)
    return await start_run(resolve(config, variables), new, progress or Progress())


async def resume(folder: Path, variables: Variables = NOTHING_SET, **changes: Any) -> RunSummary:
    return await resume_run(RunFolder.open(folder), variables, Progress(), changes)


def records(folder: Path) -> list[dict[str, Any]]:
    return list(RunFolder.open(folder).records())


def rewrite(folder: Path, change: Callable[[list[dict[str, Any]]], object]) -> None:
    """Change the log of a run; every line gets its right checksum."""
    log = records(folder)
    change(log)
    (folder / "results.jsonl").write_bytes(b"".join(map(encode_line, log)))


def without_time(record: dict[str, Any]) -> str:
    """A record without the wall time of its tool calls."""
    result = Result.from_dict(record).as_dict()
    for turn in result["trajectory"]["turns"]:
        turn.pop("seconds", None)
        turn.pop("elapsed_in_tools", None)
        for tool_result in turn.get("results", ()):
            tool_result.pop("seconds", None)
    return json.dumps({**result, "seconds": None}, sort_keys=True)
