"""Commands on a real terminal (a pseudo-terminal) of some width."""

import fcntl
import os
import pty
import re
import struct
import sys
import termios
from pathlib import Path

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_terminal(
    columns: int, *words: object, folder: Path, stdout: Path | None = None, typed: str = "", **variables: str
) -> tuple[int, str]:
    """Exit code, and all that appears on a terminal so wide; what is written over a line is a line too. `stdout`: a file that takes it, as with `> FILE`."""
    child, descriptor = pty.fork()
    if child == 0:
        environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        if stdout is not None:
            os.dup2(os.open(stdout, os.O_CREAT | os.O_WRONLY, 0o600), 1)
        os.chdir(folder)
        command = [sys.executable, "-m", "graphwalk", *map(str, words)]
        os.execve(sys.executable, command, {**environment, "TERM": "xterm", "NO_COLOR": "1", **variables})
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    os.write(descriptor, typed.encode())
    shown = b""
    while block := _read(descriptor):
        shown += block
    os.close(descriptor)
    text = shown.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), _CONTROL.sub("", text)


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # the other end is closed
        return b""
