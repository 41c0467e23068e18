"""The page of runs, served to this machine alone: read-only, and only to whoever knows the token in the address."""

import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from graphwalk.errors import GraphwalkError
from graphwalk.page.assets import policy
from graphwalk.page.content import Record
from graphwalk.page.live import LiveRuns
from graphwalk.page.page import served_page

HOST = "127.0.0.1"
_NAMES = (HOST, "localhost")
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
        super().__init__((HOST, port), _Handler)
        self.token = secrets.token_urlsafe(18)
        self.runs = LiveRuns(place, wanted)
        self._first = first

    @property
    def address(self) -> str:
        """The address to open; with `first` that of these runs."""
        asked = urlencode([("run", name) for name in self._first])
        return f"http://{HOST}:{self.server_port}/{self.token}/{f'?{asked}' if asked else ''}"

    def hosts(self) -> set[str]:
        """What a browser on this machine may call us; another name is a page elsewhere that points here."""
        return {f"{name}:{self.server_port}" for name in _NAMES}


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
        allowed = self.server.hosts()
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
        """Nobody needs a line per request."""


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
