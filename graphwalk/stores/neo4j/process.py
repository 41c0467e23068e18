"""Who loaded a graph: a process, named so that others on the same machine can tell whether it still lives."""

import platform
from pathlib import Path
from uuid import uuid4

import psutil


def this_process() -> str:
    """machine / process id / start / random part; different for every call."""
    process = psutil.Process()
    return f"{_machine()}/{process.pid}/{_start(process)}/{uuid4().hex[:8]}"


def is_dead(name: str) -> bool:
    """True if the process ran on this machine and is gone; False where that cannot be known."""
    machine, pid, start, _ = name.rsplit("/", 3)
    if machine != _machine():
        return False
    try:
        process = psutil.Process(int(pid))
        return process.status() == psutil.STATUS_ZOMBIE or start not in ("", _start(process))
    except psutil.NoSuchProcess:
        return True
    except psutil.AccessDenied:
        return False  # it lives, and is somebody else's


def _machine() -> str:
    """Host, boot and process namespace: containers share hosts, and not each other's process ids."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    namespace = Path("/proc/self/ns/pid")
    if not boot.exists():
        return platform.node()
    return f"{platform.node()}:{boot.read_text().strip()}:{namespace.readlink()}"


def _start(process: psutil.Process) -> str:
    """Hundredths of a second from boot to start, which tells a process from a later one of the same number.

    The time of day would not do: a clock that is set would make living processes look dead.
    """
    return str(round(100 * (process.create_time() - psutil.boot_time())))
