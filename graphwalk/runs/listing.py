"""List the runs in a folder."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from graphwalk.errors import GraphwalkError
from graphwalk.runs.folder import RunFolder, own_episodes, shard_in_words
from graphwalk.runs.record import EpisodeKey, key_of

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
    """Planned episodes, of a shard its own."""
    done: int = 0
    cost: float | None = None
    shard: str | None = None
    """"shard 2 of 4"; None for a whole run."""
    accuracy: float | None = None
    """In percent, over the tasks of all players, as reports compute it; None without scored episodes."""

    def as_dict(self) -> dict[str, Any]:
        return {**self.__dict__, "path": str(self.path)}


def list_runs(folder: Path) -> Iterator[ListedRun]:
    """Yield the runs in a folder, by name; if the folder is a run, only that one."""
    places = [folder] if (folder / "run.json").exists() else sorted(path.parent for path in folder.glob("*/run.json"))
    for place in places:
        try:
            yield listed(RunFolder.open(place, conversations=True))
        except (GraphwalkError, OSError, LookupError, TypeError, ValueError, AttributeError):
            yield ListedRun(place, "unreadable")


def listed(folder: RunFolder) -> ListedRun:
    """Return the state of a run and its results so far."""
    manifest = folder.read_manifest()
    config, episodes = manifest["config"], own_episodes(manifest)
    scores = dict[EpisodeKey, Mapping[str, Any] | None]()
    costs = dict[EpisodeKey, float | None]()
    for record in folder.records():
        key = key_of(record)
        scores[key], costs[key] = record["score"], record["usage"].get("cost")
    scored = sum(score is not None for score in scores.values())
    reported = [cost for cost in costs.values() if cost is not None]
    return ListedRun(
        path=folder.path,
        state="finished" if scored >= episodes else "not finished",
        name=manifest["name"],
        created=manifest["created"],
        models=tuple(config["models"]),
        episodes=episodes,
        done=len(scores),
        cost=sum(reported) if reported and len(reported) == len(costs) else None,
        shard=shard_in_words(manifest),
        accuracy=_accuracy(scores),
    )


def _accuracy(scores: Mapping[EpisodeKey, Mapping[str, Any] | None]) -> float | None:
    """Return the mean over players and tasks, repeats of a task averaged first."""
    repeats: dict[tuple[str, str, str], list[float | None]] = {}
    for key, score in scores.items():
        if score is not None:
            repeats.setdefault((key.model, key.setting, key.task_id), []).append(score["correct"])
    judged = [[value for value in values if value is not None] for values in repeats.values()]
    return 100 * fmean(map(fmean, judged)) if judged and all(judged) else None
