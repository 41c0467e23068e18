"""List the runs in a folder."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from graphwalk.errors import GraphwalkError
from graphwalk.runs.folder import RunFolder
from graphwalk.runs.record import EpisodeKey, ResultRecord, key_of
from graphwalk.suites.setting import Setting

State = Literal["finished", "not finished", "unreadable"]


@dataclass(frozen=True)
class ListedRun:
    """One run. `cost` is in US dollars, None if unknown."""

    path: Path
    state: State
    name: str = ""
    created: str = ""
    models: tuple[str, ...] = ()
    episodes: int | None = None
    """Planned episodes."""
    done: int = 0
    cost: float | None = None
    accuracy: Mapping[str, float] = field(default_factory=dict)
    """Model → percent of its tasks in all settings, as reports compute it; without models that have no score."""

    def as_dict(self) -> dict[str, Any]:
        return {**self.__dict__, "path": str(self.path)}


def list_runs(folder: Path) -> list[ListedRun]:
    """Return the runs in a folder, oldest first and unreadable ones last; if the folder is a run, only that one."""
    if (folder / "run.json").exists():
        places = [folder]
    else:
        places = sorted(path.parent for path in folder.glob("*/run.json"))

    runs = []
    for place in places:
        try:
            runs.append(listed(RunFolder.open(place, conversations=True)))
        except (GraphwalkError, OSError, LookupError, TypeError, ValueError, AttributeError):
            runs.append(ListedRun(place, "unreadable"))
    return sorted(runs, key=lambda run: (run.state == "unreadable", run.created))


def listed(folder: RunFolder) -> ListedRun:
    """Return the state of a run and its results so far."""
    manifest = folder.read_manifest()
    episodes = manifest["fingerprint"]["episodes"]
    last = {key_of(record): record for record in folder.records()}  # of each episode, after tries that failed
    costs = [record["usage"].get("cost") for record in last.values()]
    scored = sum(record["score"] is not None for record in last.values())
    return ListedRun(
        path=folder.path,
        state="finished" if scored >= episodes else "not finished",
        name=manifest["name"],
        created=manifest["created"],
        models=tuple(manifest["config"]["models"]),
        episodes=episodes,
        done=len(last),
        cost=sum(costs) if costs and None not in costs else None,
        accuracy=_accuracy(last),
    )


def _accuracy(records: Mapping[EpisodeKey, ResultRecord]) -> dict[str, float]:
    """Return model → percent of its tasks; a task with repeats counts once, with its mean."""
    correct: dict[str, dict[tuple[Setting, str], list[float]]] = {}
    for key, record in records.items():
        if record["score"] is None or record["score"]["correct"] is None:  # None: an answer of `ask`
            continue
        tasks = correct.setdefault(key.model, {})
        tasks.setdefault((key.setting, key.task_id), []).append(record["score"]["correct"])

    accuracy = {}
    for model, tasks in correct.items():
        accuracy[model] = 100 * fmean(fmean(repeats) for repeats in tasks.values())
    return accuracy
