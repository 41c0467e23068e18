"""Runs as a page sees them while they go on: read again when they have grown, but never most of the time."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from graphwalk.errors import GraphwalkError
from graphwalk.page.content import EpisodeReader, Record, RunContent, content_of, inflated
from graphwalk.page.index import figures_of, index_of
from graphwalk.runlog.listing import ListedRun, list_runs
from graphwalk.runlog.run_folder import RunFolder

_REST = 4.0
"""A run that is being written is read again after so many times as long as reading it took."""


@dataclass
class _Reading:
    content: RunContent
    reader: EpisodeReader
    file: tuple[str, int] | None
    """Name and inode of the log: as long as these stay the same, it has only grown."""
    size: int
    seconds: float
    done: float
    number: int
    figures: dict[str, Any] | None = None


class LiveRuns:
    """The runs in a folder, or one run. Safe to be asked by several threads."""

    def __init__(self, place: Path, wanted: Callable[[Record], bool] = lambda record: True) -> None:
        self._place = place
        self._wanted = wanted
        self._readings: dict[str, _Reading] = {}
        self._lock = Lock()
        self._number = 0

    def listed(self) -> list[dict[str, Any]]:
        """The runs as `graphwalk runs` lists them, newest first."""
        runs = [{**run.as_dict(), "path": None, "name": run.path.name} for run in list_runs(self._place)]
        return runs[::-1]

    def index(self, names: Sequence[str]) -> dict[str, Any]:
        """The index of these runs. GraphwalkError for a name that is none of the listed ones."""
        with self._lock:
            listed = self._find(names)
            readings = [self._read(run) for run in listed]
        index = index_of([one.content for one in readings], {run.path.name: run.state for run in listed})
        return {**index, "version": self._version(readings, listed)}

    def figures(self, names: Sequence[str]) -> list[dict[str, Any]]:
        with self._lock:
            readings = [self._read(run) for run in self._find(names)]
            for one in readings:
                one.figures = one.figures or figures_of(one.content)
        return [one.figures or {} for one in readings]

    def episode(self, names: Sequence[str], number: int) -> str:
        """The JSON of an episode by its number in the index as it was last given."""
        with self._lock:
            episodes = [e for name in names if name in self._readings for e in self._readings[name].content.episodes]
        if not 0 <= number < len(episodes):
            raise GraphwalkError("there is no such episode any more", hint="load the page again")
        return inflated(episodes[number].block)

    def _find(self, names: Sequence[str]) -> list[ListedRun]:
        found = {run.path.name: run for run in list_runs(self._place) if run.state != "unreadable"}
        unknown = [name for name in names if name not in found]
        if unknown or not names:
            raise GraphwalkError(f"there is no run {', '.join(unknown)}", hint="see the list of runs")
        return [found[name] for name in dict.fromkeys(names)]

    def _read(self, run: ListedRun) -> _Reading:
        """As it was read before, if nothing has come since, or if that is only just done."""
        name = run.path.name
        size = sum(path.stat().st_size for path in run.path.glob("results.*"))
        known = self._readings.get(name)
        if known and (known.size == size or time.monotonic() < known.done + _REST * known.seconds):
            return known
        begun = time.monotonic()
        folder = RunFolder.open(run.path)
        file = _log_file(folder)
        reader = known.reader if known and known.file == file and known.size <= size else self._reader(folder)
        content = content_of(folder, reader=reader)
        self._number += 1
        done = time.monotonic()
        self._readings[name] = _Reading(content, reader, file, size, done - begun, done, self._number)
        return self._readings[name]

    def _reader(self, folder: RunFolder) -> EpisodeReader:
        return EpisodeReader(folder.read_manifest()["config"]["suite"]["name"], self._wanted)

    @staticmethod
    def _version(readings: Sequence[_Reading], listed: Sequence[ListedRun]) -> str:
        return "-".join(f"{one.number}{run.state[:3]}" for one, run in zip(readings, listed, strict=True)).replace(
            " ", ""
        )


def _log_file(folder: RunFolder) -> tuple[str, int] | None:
    path = folder.results_file
    return (path.name, path.stat().st_ino) if path.exists() else None
