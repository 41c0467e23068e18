"""Run coroutines from synchronous code: with signal handling for the command line, in a thread for notebooks."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import cache, partial, wraps
from types import FrameType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from graphwalk.console import say, stderr

if TYPE_CHECKING:
    import asyncio

P = ParamSpec("P")
T = TypeVar("T")

SIGNALS = (signal.SIGINT, signal.SIGTERM)
_TWICE_SECONDS = 0.5
"""Two signals within this time count as one: `timeout` signals both the process and its group."""
_THREAD = "graphwalk"
_CLEAN_UP_SECONDS = 10.0
"""Longest wait of an interrupted notebook cell for the clean-up."""


class Interrupted(BaseException):
    """The end of the work by a signal. `exit_code` is 128 + its number; `announced`: a message was printed."""

    def __init__(self, signum: int, *, announced: bool = False) -> None:
        super().__init__(signal.Signals(signum).name)
        self.exit_code = 128 + signum
        self.announced = announced


def heed_signals() -> None:
    """Raise SIGINT and SIGTERM as Interrupted from now on.

    Python drops exceptions in callbacks of imports and of the garbage collector; there the process ends.
    """

    def stop(signum: int, frame: FrameType | None) -> None:
        raise Interrupted(signum)

    def dropped(unraisable: "sys.UnraisableHookArgs") -> None:
        if isinstance(unraisable.exc_value, Interrupted):
            os._exit(unraisable.exc_value.exit_code)
        sys.__unraisablehook__(unraisable)

    sys.unraisablehook = dropped
    for signum in SIGNALS:
        signal.signal(signum, stop)


def run_async(work: Coroutine[Any, Any, T], message: str = "") -> T:
    """Run `work` and return its result.

    The first SIGINT or SIGTERM cancels the work and prints `message`. Raise Interrupted after the clean-up, when all
    threads have ended. A second signal ends the process at once.
    """
    first, came, announced = 0, 0.0, False
    cancel: Callable[[], object] | None = None

    def stop(signum: int, frame: FrameType | None) -> None:
        # May run between any two instructions of the main thread.
        nonlocal first, came, announced
        if not first:
            first, came = signum, time.monotonic()
            if cancel is not None:
                cancel()
            if message:
                with suppress(OSError, RuntimeError):  # stderr is gone, or the signal interrupts a write to it
                    say(f"{signal.Signals(signum).name}: {message}")
                    announced = True
        elif time.monotonic() - came > _TWICE_SECONDS:
            try:
                stderr().show_cursor()  # a progress line hides it
            finally:
                os._exit(128 + signum)

    async def cancellable() -> T:
        nonlocal cancel
        task = asyncio.ensure_future(work)
        cancel = partial(asyncio.get_running_loop().call_soon_threadsafe, task.cancel)
        if first:
            task.cancel()
        try:
            return await task
        finally:
            cancel = None

    earlier = {signum: signal.signal(signum, stop) for signum in SIGNALS}
    try:
        import asyncio  # `graphwalk --help` needs none

        return asyncio.run(cancellable())
    except KeyboardInterrupt:
        # The embedded engine handles SIGINT itself during a query.
        stop(signal.SIGINT, None)
        raise
    finally:
        if first:
            # The handler stays: a second signal ends the process during what follows.
            raise Interrupted(first, announced=announced)
        for signum, handler in earlier.items():
            signal.signal(signum, handler)


async def await_in_background(work: Coroutine[Any, Any, T]) -> T:
    """Await `work` in the background loop; cancellation reaches it."""
    import asyncio

    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, _background_loop(os.getpid())))


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

    import asyncio

    future = asyncio.run_coroutine_threadsafe(announced(), _background_loop(os.getpid()))
    try:
        return future.result()
    except KeyboardInterrupt:
        future.cancel()
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
def _background_loop(process: int) -> "asyncio.AbstractEventLoop":
    """Return the loop of this process; the argument is its id, since a forked process has no threads."""
    import asyncio

    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name=_THREAD, daemon=True).start()
    return loop
