"""Local server of the page of runs, updated while runs are in progress."""

import json
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from graphwalk.errors import GraphwalkError
from graphwalk.runs.listing import ListedRun, list_runs
from graphwalk.runs.run_folder import RunFolder
from graphwalk.serve import LOOPBACK, loopback_names
from graphwalk.serve.page import figures_of, index_of, policy, served_page
from graphwalk.serve.page_content import EpisodeReader, Record, RunContent, content_of, inflated

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
        """Return the runs as `graphwalk runs` lists them, newest first."""
        runs = [{**run.as_dict(), "path": None, "name": run.path.name} for run in list_runs(self._place)]
        return runs[::-1]

    def index(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the index of these runs. Raise GraphwalkError for an unknown name."""
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
        """Return the JSON of an episode by its number in the latest index."""
        with self._lock:
            episodes = [e for name in names if name in self._readings for e in self._readings[name].content.episodes]
        if not 0 <= number < len(episodes):
            raise GraphwalkError("the episode no longer exists", hint="reload the page")
        return inflated(episodes[number].block)

    def _find(self, names: Sequence[str]) -> list[ListedRun]:
        found = {run.path.name: run for run in list_runs(self._place) if run.state != "unreadable"}
        unknown = [name for name in names if name not in found]
        if unknown or not names:
            raise GraphwalkError(f"no run {', '.join(unknown)}", hint="see the list of runs")
        return [found[name] for name in dict.fromkeys(names)]

    def _read(self, run: ListedRun) -> _Reading:
        """Return the content of a run, read again if its log has changed and the last reading is old enough."""
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


_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": policy(connect="'self'") + "; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
Query = Mapping[str, Sequence[str]]


class PageServer(ThreadingHTTPServer):
    """Listens on a port of the loopback interface (0: any that is free); shows the episodes that are `wanted`."""

    daemon_threads = True

    def __init__(
        self,
        place: Path,
        port: int = 0,
        first: Sequence[str] = (),
        wanted: Callable[[Record], bool] = lambda record: True,
    ) -> None:
        super().__init__((LOOPBACK, port), _Handler)
        self.token = secrets.token_urlsafe(18)
        self.runs = LiveRuns(place, wanted)
        self._first = first

    @property
    def address(self) -> str:
        """The address to open; with `first` that of these runs."""
        asked = urlencode([("run", name) for name in self._first])
        return f"http://{LOOPBACK}:{self.server_port}/{self.token}/{f'?{asked}' if asked else ''}"


class _Handler(BaseHTTPRequestHandler):
    server: PageServer
    server_version = "graphwalk"
    sys_version = ""
    timeout = 30

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def _answer(self) -> None:
        origin = self.headers.get("Origin")
        allowed = loopback_names(self.server.server_port)
        if self.headers.get("Host") not in allowed or (origin and origin.removeprefix("http://") not in allowed):
            self._send(HTTPStatus.FORBIDDEN, "text/plain", "this page is for this machine alone")
            return
        asked = urlsplit(self.path)
        _, _, rest = asked.path.partition("/")
        token, _, part = rest.partition("/")
        route = _ROUTES.get(part)
        if not secrets.compare_digest(token.encode(), self.server.token.encode()) or route is None:
            self._send(HTTPStatus.NOT_FOUND, "text/plain", "there is nothing here; the address has a token in it")
            return
        try:
            kind, text = route(self.server.runs, parse_qs(asked.query))
        except (GraphwalkError, ValueError, OSError) as error:
            self._send(HTTPStatus.CONFLICT, "text/plain", str(error))
            return
        self._send(HTTPStatus.OK if text is not None else HTTPStatus.NO_CONTENT, kind, text or "")

    def _send(self, status: HTTPStatus, kind: str, text: str) -> None:
        body = text.encode("utf-8", "replace")
        self.send_response(status)
        for name, value in {**_HEADERS, "Content-Type": f"{kind}; charset=utf-8"}.items():
            self.send_header(name, value)
        if status is not HTTPStatus.NO_CONTENT:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD" and status is not HTTPStatus.NO_CONTENT:
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Write no line per request."""


Answer = tuple[str, str | None]
"""Type and text; None: nothing has changed."""
_JSON = "application/json"


def _page(runs: LiveRuns, query: Query) -> Answer:
    return "text/html", served_page("GraphWalk runs")


def _listed(runs: LiveRuns, query: Query) -> Answer:
    listed = runs.listed()
    text = json.dumps(listed)
    version = f"{len(listed)}-{hash(text):x}"
    return _JSON, None if _known(query, version) else json.dumps(
        {"listed": listed, "version": version, "title": "Runs"}
    )


def _index(runs: LiveRuns, query: Query) -> Answer:
    index = runs.index(query.get("run", ()))
    return _JSON, None if _known(query, index["version"]) else json.dumps(index)


def _figures(runs: LiveRuns, query: Query) -> Answer:
    return _JSON, json.dumps(runs.figures(query.get("run", ())))


def _episode(runs: LiveRuns, query: Query) -> Answer:
    return _JSON, runs.episode(list(dict.fromkeys(query.get("run", ()))), int(query.get("number", ["-1"])[0]))


def _known(query: Query, version: str) -> bool:
    return query.get("version", [""])[0] == version


_ROUTES: Mapping[str, Callable[[LiveRuns, Query], Answer]] = {
    "": _page,
    "runs": _listed,
    "index": _index,
    "figures": _figures,
    "episode": _episode,
}
