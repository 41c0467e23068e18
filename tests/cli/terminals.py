"""Commands on a real terminal (a pseudo-terminal) of some width."""

import fcntl
import os
import pty
import re
import select
import struct
import termios
from pathlib import Path

from tests.commands import start, wait

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_terminal(
    columns: int, *words: object, folder: Path, stdout: Path | None = None, raw: bool = False, **variables: str
) -> tuple[int, str]:
    """Exit code, and all that appears on a terminal so wide; what is written over a line is a line too.

    `stdout`: a file that takes it, as with `> FILE`. `raw`: with control sequences.
    """
    descriptor, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    given = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    environment = {**given, "TERM": "xterm", "NO_COLOR": "1", **variables}
    screen = Path(os.ttyname(terminal))
    if stdout is not None:
        stdout.touch(0o600)
    process = start(words, environment, folder, [screen, stdout or screen, screen])
    shown = b""
    while process.is_alive() or select.select([descriptor], [], [], 0)[0]:
        if select.select([descriptor], [], [], 0.05)[0]:
            shown += os.read(descriptor, 65536)
    os.close(terminal)
    os.close(descriptor)
    text = shown.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    return wait(process), text if raw else _CONTROL.sub("", text)
