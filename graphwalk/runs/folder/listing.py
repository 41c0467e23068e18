"""List the runs in a folder, parsing only the beginning of each result for speed."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from graphwalk.errors import GraphwalkError, RunLogError
from graphwalk.evaluation.statistics import outcomes_of
from graphwalk.files.json_lines import decode_line, open_lines
from graphwalk.runs.folder.result import EpisodeKey, key_of
from graphwalk.runs.folder.run_folder import RunFolder, own_episodes, shard_in_words

State = Literal["finished", "not finished", "not begun", "unreadable"]
_REST = b', "task": {'
"""Beginning of the part of a result that a list does not need: task, graph, conversation."""


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
            yield listed(RunFolder.open(place))
        except (GraphwalkError, OSError, LookupError, TypeError, ValueError, AttributeError):
            yield ListedRun(place, "unreadable")


def listed(folder: RunFolder) -> ListedRun:
    """Return the state of a run and its results so far."""
    manifest = folder.read_manifest()
    config, episodes = manifest["config"], own_episodes(manifest)
    results = {key_of(head): head for head in heads(folder)}
    due = sum(bool(head["score"]) for head in results.values())
    costs = [head["usage"].get("cost") for head in results.values()]
    return ListedRun(
        path=folder.path,
        state=_state(episodes, due),
        name=manifest["name"],
        created=manifest["created"],
        models=tuple(config["models"]),
        episodes=episodes,
        done=len(results),
        cost=sum(costs) if costs and None not in costs else None,
        shard=shard_in_words(manifest),
        accuracy=_accuracy(results),
    )


def _accuracy(results: Mapping[EpisodeKey, Mapping[str, Any]]) -> float | None:
    """Return the mean over players and tasks, repeats of a task averaged first."""
    values = {key: head["score"]["correct"] for key, head in results.items() if head["score"]}
    if not values or None in values.values():
        return None
    players = [(key.model, key.setting) for key in values]
    return 100 * float(outcomes_of(list(values.values()), players, [key.task_id for key in values]).means[0])


def heads(folder: RunFolder) -> Iterator[dict[str, Any]]:
    """Yield the fields of each result before its task. Raise RunLogError for a damaged line."""
    with open_lines(folder.results_path) as file:
        for line in file:
            if line.endswith(b"\n"):
                yield _head(line, folder.results_path)


def _head(line: bytes, path: Path) -> dict[str, Any]:
    with suppress(ValueError, RecursionError):
        head: dict[str, Any] = json.loads(line.partition(_REST)[0] + b"}")
        if "score" in head:
            return head
    try:
        # The answer may contain a "task" too.
        return decode_line(line)
    except (ValueError, RecursionError) as error:
        raise RunLogError(f"{path} has a damaged line ({error})", hint="restore the file from a copy") from error


def _state(episodes: int | None, scored: int) -> State:
    if episodes is None:
        return "not finished" if scored else "not begun"
    return "finished" if scored >= episodes else "not finished"
