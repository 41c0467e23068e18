"""Where the asyncio core is entered: by the command line, which turns signals into an orderly end, and by notebooks."""

import asyncio
import os
import signal
import threading
import time
from collections.abc import Callable, Coroutine
from functools import cache, partial
from types import FrameType
from typing import Any, TypeVar

from graphwalk.console import printable, say
from graphwalk.deadline import Deadline, deadline

T = TypeVar("T")

SIGNALS = (signal.SIGINT, signal.SIGTERM)
END_SECONDS = 2.8
"""From a signal to the end of the process, whatever does not let go."""
KILL_SECONDS = 3.2
"""From a signal to the end of a process that no thread of its own could end; to free its gigabytes takes a second."""
_TWICE_SECONDS = 0.5
"""Signals so close to each other are one: `timeout` sends its own to the process and to its group."""
_THREAD = "graphwalk"
_CLEAN_UP_SECONDS = 10.0
"""An interrupted notebook cell waits this long for the work to put things in order."""


class Interrupted(BaseException):
    """A signal ended the work; what was finished is on disk. `exit_code` is 128 + the signal's number.

    `told`: somebody has already said so.
    """

    def __init__(self, signum: int, *, told: bool = False) -> None:
        super().__init__(signal.Signals(signum).name)
        self.exit_code = 128 + signum
        self.told = told


def heed_signals() -> None:
    """From now on SIGINT and SIGTERM are raised as Interrupted, wherever the program is."""

    def stop(signum: int, frame: FrameType | None) -> None:
        raise Interrupted(signum)

    for signum in SIGNALS:
        signal.signal(signum, stop)


def run_async(work: Coroutine[Any, Any, T], stopped: str = "") -> T:
    """The result of `work`. On SIGINT or SIGTERM the work is cancelled, `stopped` is said, and the signal is raised.

    What the work then still does in tasks, threads and connections has `END_SECONDS` in all; after that the process is
    ended as it is. A second signal ends it at once. Work with something to say is ended even where C code holds the
    interpreter (`deadline`).
    """
    ending = _Ending(stopped)
    earlier = {signum: signal.signal(signum, ending.begin) for signum in SIGNALS}
    try:
        ending.set_deadline()
        return asyncio.run(ending.of(work))
    except KeyboardInterrupt:
        # From a library that takes SIGINT for itself while it works.
        ending.begin(signal.SIGINT, None)
        raise
    finally:
        if ending.signum is None:
            for signum, handler in earlier.items():
                signal.signal(signum, handler)
        ending.over()
        if ending.signum is not None:
            # Whatever went wrong after the signal, it was the signal that ended the work. The deadline still stands:
            # what is freed now can take its time.
            raise Interrupted(ending.signum, told=bool(stopped))


class _Ending:
    """What a signal sets in motion, once. The handler may run between any two instructions of the main thread."""

    def __init__(self, stopped: str) -> None:
        self.signum: int | None = None
        self._stopped = stopped
        self._begun = 0.0
        self._telling = threading.Lock()
        self._told = not stopped
        self._cancel: Callable[[], object] = lambda: None
        self._deadline: Deadline | None = None

    def set_deadline(self) -> None:
        if self._stopped:
            self._deadline = deadline(KILL_SECONDS, SIGNALS, printable(self._stopped))

    async def of(self, work: Coroutine[Any, Any, T]) -> T:
        loop, task = asyncio.get_running_loop(), asyncio.ensure_future(work)
        self._cancel = partial(loop.call_soon_threadsafe, task.cancel)
        if self.signum is not None:
            task.cancel()
        try:
            return await task
        finally:
            self._cancel = lambda: None
            if self.signum is not None:
                self._tell()

    def begin(self, signum: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self.signum is not None:
            if now - self._begun > _TWICE_SECONDS:
                os._exit(128 + signum)
            return
        self._begun, self.signum = now, signum
        late = threading.Timer(END_SECONDS, self._end)
        late.daemon = True
        late.start()
        self._cancel()

    def over(self) -> None:
        """The work has ended, by itself or by a signal."""
        if self.signum is not None:
            self._tell()
        elif self._deadline is not None:
            self._deadline.lift()

    def _tell(self) -> None:
        assert self.signum is not None
        with self._telling:
            if not self._told:
                self._told = True
                say(f"{signal.Signals(self.signum).name}: {self._stopped}")
                if self._deadline is not None:
                    self._deadline.told()

    def _end(self) -> None:
        assert self.signum is not None
        try:
            self._tell()
        finally:
            os._exit(128 + self.signum)


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
