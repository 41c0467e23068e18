"""Local server of the page of runs, updated while runs are in progress."""

import json
import secrets
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from graphwalk.errors import GraphwalkError
from graphwalk.runs.folder.listing import ListedRun, list_runs
from graphwalk.runs.folder.run_folder import RunFolder
from graphwalk.serve import LOOPBACK, loopback_names
from graphwalk.serve.page import RunContent, content_of, index_of, inflated, policy, served_page

_REST = 4.0
"""A run that is being written is read again after so many times as long as reading it took."""


@dataclass(frozen=True)
class _Reading:
    """A run as it was read from a log of `size` bytes, in `seconds`; `done`: the time at its end."""

    content: RunContent
    size: int
    seconds: float
    done: float


class LiveRuns:
    """The runs in a folder, or one run. Safe to be asked by several threads."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._readings: dict[str, _Reading] = {}
        self._lock = Lock()

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
        versions = (f"{one.size}{run.state[:3].strip()}" for one, run in zip(readings, listed, strict=True))
        return {**index, "version": "-".join(versions)}

    def figures(self, names: Sequence[str]) -> list[dict[str, Any]]:
        with self._lock:
            return [self._read(run).content.figures for run in self._find(names)]

    def episode(self, names: Sequence[str], number: int) -> str:
        """Return the JSON of an episode by its number in the latest index."""
        with self._lock:
            episodes = [e for name in names if name in self._readings for e in self._readings[name].content.episodes]
        if not 0 <= number < len(episodes):
            raise GraphwalkError("the episode no longer exists", hint="reload the page")
        return inflated(episodes[number].block)

    def _find(self, names: Sequence[str]) -> list[ListedRun]:
        runs = {run.path.name: run for run in list_runs(self._place) if run.state != "unreadable"}
        unknown = [name for name in names if name not in runs]
        if unknown or not names:
            raise GraphwalkError(f"no run {', '.join(unknown)}", hint="see the list of runs")
        return [runs[name] for name in dict.fromkeys(names)]

    def _read(self, run: ListedRun) -> _Reading:
        """Return the content of a run, read again if its log has changed and the last reading is old enough."""
        size = sum(path.stat().st_size for path in run.path.glob("results.*"))
        reading = self._readings.get(run.path.name)
        if reading and (reading.size == size or time.monotonic() < reading.done + _REST * reading.seconds):
            return reading
        begun = time.monotonic()
        content = content_of(RunFolder.open(run.path))
        done = time.monotonic()
        self._readings[run.path.name] = _Reading(content, size, done - begun, done)
        return self._readings[run.path.name]


_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": policy(connect="'self'") + "; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class PageServer(ThreadingHTTPServer):
    """Listens on a port of the loopback interface (0: any that is free)."""

    daemon_threads = True

    def __init__(self, place: Path, port: int = 0) -> None:
        super().__init__((LOOPBACK, port), _Handler)
        self.token = secrets.token_urlsafe(18)
        self.runs = LiveRuns(place)
        run = [("run", place.resolve().name)] if (place / "run.json").exists() else []
        self._query = f"?{urlencode(run)}" if run else ""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print the traceback of an error, unless the client has closed its connection."""
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)

    @property
    def address(self) -> str:
        """The address to open: that of the list of runs, or of the only run."""
        return f"http://{LOOPBACK}:{self.server_port}/{self.token}/{self._query}"


class _Handler(BaseHTTPRequestHandler):
    server: PageServer
    server_version = "graphwalk"
    sys_version = ""
    timeout = 30

    def do_GET(self) -> None:
        host, origin = (self.headers.get(name, "").lower() for name in ("Host", "Origin"))
        allowed = loopback_names(self.server.server_port)
        if host not in allowed or (origin and origin.removeprefix("http://") not in allowed):
            self._send(HTTPStatus.FORBIDDEN, "text/plain", "this page is for this machine alone")
            return
        try:
            target = urlsplit(self.path)
        except ValueError as error:
            self._send(HTTPStatus.BAD_REQUEST, "text/plain", f"the address is malformed: {error}")
            return
        _, _, rest = target.path.partition("/")
        token, _, part = rest.partition("/")
        is_authorised = secrets.compare_digest(token.encode(), self.server.token.encode())
        try:
            content = _content(self.server.runs, part, parse_qs(target.query)) if is_authorised else None
        except (GraphwalkError, ValueError, OSError) as error:
            self._send(HTTPStatus.CONFLICT, "text/plain", str(error))
            return
        if content is None:
            self._send(HTTPStatus.NOT_FOUND, "text/plain", "there is nothing here; the address has a token in it")
            return
        kind, text = content
        self._send(HTTPStatus.OK if text is not None else HTTPStatus.NO_CONTENT, kind, text or "")

    def _send(self, status: HTTPStatus, kind: str, text: str) -> None:
        body = text.encode("utf-8", "replace")
        self.send_response(status)
        for name, value in {**_HEADERS, "Content-Type": f"{kind}; charset=utf-8"}.items():
            self.send_header(name, value)
        if status is not HTTPStatus.NO_CONTENT:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if status is not HTTPStatus.NO_CONTENT:
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Write no line per request."""


_JSON = "application/json"


def _content(runs: LiveRuns, part: str, query: Mapping[str, Sequence[str]]) -> tuple[str, str | None] | None:
    """Return type and text of a part of the page; None for an unknown part, and as text if nothing has changed."""
    names = query.get("run", ())
    if part == "":
        return "text/html", served_page("GraphWalk runs")
    if part == "episode":
        return _JSON, runs.episode(list(dict.fromkeys(names)), int(query.get("number", ["-1"])[0]))
    if part == "figures":
        return _JSON, json.dumps(runs.figures(names))
    if part == "runs":
        listed = runs.listed()
        data = {"listed": listed, "version": f"{len(listed)}-{hash(json.dumps(listed)):x}", "title": "Runs"}
    elif part == "index":
        data = runs.index(names)
    else:
        return None
    return _JSON, None if [data["version"]] == query.get("version") else json.dumps(data)
