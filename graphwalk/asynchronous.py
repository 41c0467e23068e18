"""The one place where the asyncio core is entered, and where signals are turned into an orderly end."""

import asyncio
import os
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


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
