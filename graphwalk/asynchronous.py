"""Where the asyncio core is entered: by the command line, which turns signals into an orderly end, and by notebooks."""

import asyncio
import os
import signal
import threading
from collections.abc import Coroutine
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_THREAD = "graphwalk"
_CLEAN_UP_SECONDS = 10.0
"""An interrupted notebook cell waits this long for the work to put things in order."""


class Interrupted(BaseException):
    """A signal ended the work; what was finished is on disk. `exit_code` is 128 + the signal's number."""

    def __init__(self, signum: int) -> None:
        super().__init__(signal.Signals(signum).name)
        self.exit_code = 128 + signum


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`. Interrupted on SIGINT or SIGTERM; a second signal ends the process at once."""
    return asyncio.run(_until_signal(work))


async def _until_signal(work: Coroutine[Any, Any, T]) -> T:
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(work)
    caught: list[int] = []

    def stop(signum: int) -> None:
        if caught:
            os._exit(128 + signum)
        caught.append(signum)
        task.cancel()

    for signum in _SIGNALS:
        loop.add_signal_handler(signum, stop, signum)
    try:
        return await task
    except asyncio.CancelledError:
        if caught:
            raise Interrupted(caught[0]) from None
        raise
    finally:
        for signum in _SIGNALS:
            loop.remove_signal_handler(signum)


def run_in_background(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, which a thread with an event loop of its own does: the caller's loop may be running.

    All such work shares one loop, so that connections can be kept between calls. A KeyboardInterrupt cancels the work
    and waits until it has put things in order. RuntimeError where it is called from inside such work.
    """
    if threading.current_thread().name == _THREAD:
        work.close()
        raise RuntimeError("this is called from inside a running episode; use the form that begins with `a`")
    ended = threading.Event()

    async def announced() -> T:
        try:
            return await work
        finally:
            ended.set()

    future = asyncio.run_coroutine_threadsafe(announced(), _background_loop(os.getpid()))
    try:
        return future.result()
    except KeyboardInterrupt:
        future.cancel()
        ended.wait(_CLEAN_UP_SECONDS)
        raise


@cache
def _background_loop(process: int) -> asyncio.AbstractEventLoop:
    """One for each process: a forked one has no threads."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name=_THREAD, daemon=True).start()
    return loop
