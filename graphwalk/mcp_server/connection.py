"""One connection of a client over HTTP: how long it may take for a request, and its place among the others."""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS = 10.0
"""From the connection, or the first byte of a later request, to the end of the header."""
BODY_SECONDS = 30.0
"""From the end of the header to the end of the body."""
UNAUTHENTICATED_CONNECTIONS = 64
"""Connections that have not sent the token yet. One more closes the oldest of them: a client with the token sends it
at once, and always gets a place."""
STATE = "connection"
"""In the `state` of an ASGI scope: the connection of the request."""


class Connection(H11Protocol):
    """Uvicorn's HTTP connection, with time limits that uvicorn does not have."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.app_state = {**self.app_state, STATE: self}
        self.authenticated = False
        self._limited: Any = None
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._opened = self.loop.time()
        others = [other for other in self.connections if isinstance(other, Connection) and other._waits_for_token()]
        if len(others) > UNAUTHENTICATED_CONNECTIONS:
            min(others, key=lambda other: other._opened).transport.abort()
        self._limit_time()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._limit_time()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def _waits_for_token(self) -> bool:
        return not self.authenticated and not self.transport.is_closing()

    def _limit_time(self) -> None:
        """Start the time limit of what the client has to send next, unless it runs already."""
        state = self.conn.their_state
        if state is self._limited:
            return
        self._stop_timer()
        seconds = {h11.IDLE: HEADER_SECONDS, h11.SEND_BODY: BODY_SECONDS}.get(state)
        if seconds is not None:
            self._limited = state
            self._timer = self.loop.call_later(seconds, self.transport.abort)

    def _stop_timer(self) -> None:
        self._limited = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
