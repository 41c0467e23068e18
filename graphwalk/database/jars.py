"""Start and stop a real Neo4j Community server from its published jars, on a loopback port."""

import os
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from graphwalk.database.java import fetch_jars, find_java
from graphwalk.database.ports import answers_bolt
from graphwalk.database.releases import Release
from graphwalk.environment import Environment
from graphwalk.errors import StoreError
from graphwalk.stores.neo4j.local_server import write_private

STOP_SECONDS = 30.0
_FLAGS = (
    "-XX:+UseG1GC",
    "--enable-native-access=ALL-UNNAMED",
    "--add-modules=jdk.incubator.vector",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
)
_ADMIN = "org.neo4j.server.startup.Neo4jAdminCommand"
_DETACH = 'log=$1; shift; "$@" >"$log" 2>&1 </dev/null & echo $!'
"""The shell leaves the server behind, so that it is nobody's child and outlives us."""
_FOLDERS = ("data", "logs", "run", "import", "plugins", "licenses", "lib")


def start_jars(
    release: Release,
    environment: Environment,
    *,
    folder: Path,
    port: int,
    password: str,
    heap: str,
    conf: Mapping[str, str],
    wait_seconds: float,
) -> int:
    """Start a detached server and wait until it answers; its process id. StoreError with the end of its log if not.

    `folder` keeps data, log and configuration; `heap` as in "768m"; `conf` are lines of neo4j.conf that win over ours.
    """
    java = [
        str(find_java(release, environment)),
        f"-Xmx{heap}",
        *_FLAGS,
        "-cp",
        f"{fetch_jars(release, environment)}/*",
    ]
    fresh = not (folder / "data" / "dbms").exists()
    _configure(folder, port, conf)
    if fresh:
        _set_password(java, folder, password)
    log = folder / "server.log"
    places = [f"--home-dir={folder}", f"--config-dir={folder / 'conf'}", "--console-mode"]
    command = ["sh", "-c", _DETACH, "sh", str(log), *java, release.entry_point, *places]
    done = subprocess.run(command, capture_output=True, text=True, check=True, start_new_session=True, cwd=folder)
    pid = int(done.stdout)
    try:
        _wait(pid, folder, port, log, wait_seconds)
    except BaseException:
        stop_jars(pid, folder, at_once=True)
        raise
    return pid


def stop_jars(pid: int, folder: Path, *, at_once: bool = False) -> None:
    """End the server that `start_jars` started in `folder`: SIGTERM, then SIGKILL. Nothing if it is gone already.

    `at_once` goes without the SIGTERM, for a server whose data nobody wants.
    """
    for kind in (signal.SIGKILL,) if at_once else (signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + STOP_SECONDS
        if runs_in(pid, folder):
            os.kill(pid, kind)
        while runs_in(pid, folder):
            if time.monotonic() > deadline:
                break
            time.sleep(0.05)
        else:
            return
    raise StoreError(f"the Neo4j process {pid} does not end", hint=f"look at {folder / 'server.log'}")


def runs_in(pid: int, folder: Path) -> bool:
    """True while the process is the server of that folder, and not another that got its number later."""
    return f"--home-dir={folder}" in _command_line(pid)


def _command_line(pid: int) -> str:
    """Empty for a process that is gone or waits to be buried."""
    if Path("/proc/self/cmdline").exists():
        try:
            return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""
    done = subprocess.run(
        ["ps", "-ww", "-o", "stat=,args=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return "" if done.stdout.lstrip().startswith("Z") else done.stdout


def _configure(folder: Path, port: int, conf: Mapping[str, str]) -> None:
    lines = {f"server.directories.{name}": str(folder / name) for name in _FOLDERS} | {
        "server.bolt.enabled": "true",
        "server.bolt.listen_address": f"127.0.0.1:{port}",
        "server.http.enabled": "false",
        "server.https.enabled": "false",
        "dbms.security.auth_enabled": "true",
        "dbms.usage_report.enabled": "false",
        "server.memory.pagecache.size": "128m",
        "db.transaction.timeout": "600s",
        **conf,
    }
    write_private(folder / "conf" / "neo4j.conf", "".join(f"{name}={value}\n" for name, value in lines.items()))


def _set_password(java: list[str], folder: Path, password: str) -> None:
    """The arguments travel in a private file, since other users can see command lines."""
    arguments = folder / "conf" / "initial-password"
    write_private(arguments, f"dbms\nset-initial-password\n{password}\n")
    places = [f"NEO4J_HOME={folder}", f"NEO4J_CONF={folder / 'conf'}"]
    try:
        done = subprocess.run(
            ["env", *places, *java, _ADMIN, f"@{arguments}"], capture_output=True, text=True, check=False
        )
    finally:
        arguments.unlink()
    if done.returncode:
        raise StoreError(f"Neo4j took no password:\n{(done.stdout + done.stderr).strip()[-1500:]}")


def _wait(pid: int, folder: Path, port: int, log: Path, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not answers_bolt(port):
        if not runs_in(pid, folder) or time.monotonic() > deadline:
            end = log.read_text(encoding="utf-8", errors="replace").strip()[-1500:]
            raise StoreError(f"Neo4j did not start:\n{end}", hint=f"look at {log}")
        time.sleep(0.1)
