"""Steps of something that takes minutes: what it is doing, and for how long."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from graphwalk.console import say, stderr

_EVERY_SECONDS = 15.0
"""How often a log or a pipe is told that it still goes on."""
_BEAT_SECONDS = 0.5


class _Clock:
    """The step that is under way, and since when."""

    def __init__(self, show: Callable[[str], object]) -> None:
        self._show = show
        self._begun = self._said = time.monotonic()
        self.step = ""

    def begin(self, step: str) -> None:
        self.end()
        self.step, self._begun = step, time.monotonic()
        self._said = self._begun
        self._show(f"{step} …")

    def end(self) -> None:
        """Say how long the step took, if it took any time."""
        took = time.monotonic() - self._begun
        if self.step and took >= 1:
            say(f"{self.step}: {took:.0f} s")
        self.step = ""

    def beat(self, *, often: bool) -> None:
        now = time.monotonic()
        if self.step and (often or now - self._said >= _EVERY_SECONDS):
            self._said = now
            self._show(f"{self.step} … {now - self._begun:.0f} s")


@contextmanager
def steps() -> Iterator[Callable[[str], None]]:
    """A function that is told each step as it begins.

    On a terminal a line with the seconds that have passed, elsewhere a line now and then; at the end of each step how
    long it took.
    """
    live = stderr().is_terminal
    with stderr().status("") if live else nullcontext() as line:
        clock = _Clock(say if line is None else line.update)
        ended = threading.Event()

        def tick() -> None:
            while not ended.wait(_BEAT_SECONDS):
                clock.beat(often=live)

        ticking = threading.Thread(target=tick, daemon=True)
        ticking.start()
        try:
            yield clock.begin
            clock.end()
        finally:
            ended.set()
            ticking.join()
