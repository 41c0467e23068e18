"""A small process beside a command, which ends it in time when a signal came and Python cannot.

No handler and no thread of Python runs as long as C code holds the interpreter, and a list of millions of rows holds it
for seconds.

Signals write their numbers into a pipe the moment they come (`signal.set_wakeup_fd`); this file, run as a program with
nothing but the standard library, reads the other end. The end of the pipe is the end of the command. Ctrl-C reaches
both processes from a terminal, so that it counts even where a library in the command takes SIGINT for itself.
"""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Collection
from contextlib import suppress

TOLD = 0
"""Written into the pipe where a number of a signal would stand: somebody has said that the command is stopped."""
_PATIENCE = 0.6
"""Seconds from the signal to SIGKILL, and from there to the end of this process."""
_SHOW_CURSOR = b"\x1b[?25h"
"""A progress line hides it, and an end in the middle does not give it back."""


def deadline(seconds: float, signals: Collection[int], text: str) -> "Deadline | None":
    """From now on this process is ended so many seconds after one of these signals.

    `text` is said where nobody has said it by its end. The signal is sent once more first, so that a handler of Python
    can end the process with a status of its own; then SIGKILL. For the main thread alone. None where there are no such
    signals, or no other process can be begun.
    """
    if os.name != "posix" or not sys.executable:
        return None
    with suppress(OSError):
        return Deadline(seconds, signals, text)
    return None


class Deadline:
    """See `deadline`."""

    def __init__(self, seconds: float, signals: Collection[int], text: str) -> None:
        words = [str(os.getpid()), str(seconds), ",".join(str(int(signum)) for signum in signals), text]
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", __file__, *words], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        assert self._process.stdin is not None
        self._pipe = self._process.stdin.fileno()
        os.set_blocking(self._pipe, False)
        self._earlier = signal.set_wakeup_fd(self._pipe, warn_on_full_buffer=False)

    def told(self) -> None:
        """What is to be said has been said."""
        with suppress(OSError):
            os.write(self._pipe, bytes([TOLD]))

    def lift(self) -> None:
        """No signal ends this process any more."""
        signal.set_wakeup_fd(self._earlier, warn_on_full_buffer=False)
        with suppress(OSError):
            self._process.communicate()


def _keep(command: int, seconds: float, signals: Collection[int], text: str) -> None:
    """Read the pipe until it ends; say what a command left unsaid that a signal ended; end it where the time is up."""
    own, to = os.pipe()
    os.set_blocking(to, False)
    signal.set_wakeup_fd(to)
    for signum in signals:
        signal.signal(signum, lambda *given: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
    came, told, over, end = 0, False, False, None
    left = [0, signal.SIGKILL]
    while not over:
        for ready in select.select([0, own], [], [], None if end is None else max(0.0, end - time.monotonic()))[0]:
            found = os.read(ready, 512)
            over = over or not found
            told = told or TOLD in found
            for signum in found:
                if signum in signals and end is None:
                    came, end = signum, time.monotonic() + seconds
        if not over and end is not None and time.monotonic() >= end:
            # Where another is the parent now, the command is gone, and its number may be another's.
            if not left or os.getppid() != command:
                break
            os.kill(command, left.pop(0) or came)
            end = time.monotonic() + _PATIENCE
    with suppress(OSError):  # stderr may have gone
        if came and not told:
            os.write(2, os.fsencode(f"{signal.Signals(came).name}: {text}\n"))
        if came and os.isatty(2):
            os.write(2, _SHOW_CURSOR)


if __name__ == "__main__":
    _keep(int(sys.argv[1]), float(sys.argv[2]), [int(one) for one in sys.argv[3].split(",")], sys.argv[4])
