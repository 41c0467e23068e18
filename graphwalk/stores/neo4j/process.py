"""Who loaded a graph: a process, named so that others on the same machine can tell whether it still lives."""

import os
import platform
from pathlib import Path
from uuid import uuid4


def this_process() -> str:
    """machine / process id / start time / random part; different for every call."""
    return f"{_machine()}/{os.getpid()}/{_start_time(os.getpid())}/{uuid4().hex[:8]}"


def is_dead(process: str) -> bool:
    """True if the process ran on this machine and is gone; False where that cannot be known."""
    machine, pid, start, _ = process.rsplit("/", 3)
    if machine != _machine():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass  # it lives, and is somebody else's
    return start != _start_time(int(pid))


def _machine() -> str:
    """Host, boot and process namespace: containers share hosts, and not each other's process ids."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    namespace = Path("/proc/self/ns/pid")
    if not boot.exists():
        return platform.node()
    return f"{platform.node()}:{boot.read_text().strip()}:{namespace.readlink()}"


def _start_time(pid: int) -> str:
    """Clock ticks from boot to start, which tells a process from a later one of the same number; "" if unknown."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""
