"""Signals of the command line: the first ends the work in order, the second ends the process."""

import os
import signal
import sys
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import Any, TypeVar

from graphwalk.terminal.console import say, stderr

T = TypeVar("T")

SIGNALS = (signal.SIGINT, signal.SIGTERM)
_TWICE_SECONDS = 0.5
"""Two signals within this time count as one: `timeout` signals both the process and its group."""


class Interrupted(BaseException):
    """The end of the work by a signal. `exit_code` is 128 + its number; `announced`: a message was printed."""

    def __init__(self, signum: int, *, announced: bool = False) -> None:
        super().__init__(signal.Signals(signum).name)
        self.exit_code = 128 + signum
        self.announced = announced


def heed_signals() -> None:
    """Raise SIGINT and SIGTERM as Interrupted; end the process in callbacks, where Python drops exceptions."""

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
