"""Run coroutines in a background thread, for synchronous code and notebooks."""

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_THREAD = "graphwalk"
_CLEAN_UP_SECONDS = 10.0
"""Longest wait of an interrupted notebook cell for the clean-up."""


def start_in_background(work: Coroutine[Any, Any, T]) -> Future[T]:
    """Start `work` in the background loop."""
    return asyncio.run_coroutine_threadsafe(work, _background_loop(os.getpid()))


async def await_in_background(work: Coroutine[Any, Any, T]) -> T:
    """Await `work` in the background loop; cancellation reaches it."""
    return await asyncio.wrap_future(start_in_background(work))


def in_background() -> bool:
    """Tell whether this is the thread of the background loop."""
    return threading.current_thread().name == _THREAD


def run_in_background(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` in the background loop and return its result, even if the caller's own loop is running.

    All such work shares one loop, so that connections are kept between calls. A KeyboardInterrupt cancels the work
    and waits for its clean-up. Raise RuntimeError if called from inside such work.
    """
    if in_background():
        work.close()
        raise RuntimeError(
            "called from inside a running episode; use the asynchronous function, whose name begins with a"
        )
    ended = threading.Event()

    async def announced() -> T:
        try:
            return await work
        finally:
            ended.set()

    future = start_in_background(announced())
    try:
        return future.result()
    except KeyboardInterrupt:
        future.cancel()
        # A cancelled future is done at once, but its work still closes files and connections.
        ended.wait(_CLEAN_UP_SECONDS)
        raise


def blocking(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """Return the form of an asynchronous function or method that blocks; `aplay` becomes `play`."""

    @wraps(function)
    def run(*args: P.args, **named: P.kwargs) -> T:
        return run_in_background(function(*args, **named))

    run.__name__ = function.__name__.removeprefix("a")
    run.__qualname__ = function.__qualname__.replace(function.__name__, run.__name__)
    return run


@cache
def _background_loop(process: int) -> asyncio.AbstractEventLoop:
    """Return the loop of this process; the argument is its id, since a forked process has no threads."""
    loop = asyncio.new_event_loop()

    def serve() -> None:
        while True:
            with suppress(SystemExit, KeyboardInterrupt):  # these end the loop; their task has them for its caller
                loop.run_forever()

    threading.Thread(target=serve, name=_THREAD, daemon=True).start()
    return loop
