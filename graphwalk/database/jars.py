"""Start and stop a real Neo4j Community server from its published jars, on a loopback port."""

import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import psutil

from graphwalk.database.java import fetch_jars, find_java
from graphwalk.database.releases import Release
from graphwalk.environment import Environment
from graphwalk.errors import StoreError
from graphwalk.stores.neo4j.local_server import answers_bolt, write_private

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
_CLASSES = "-cp"
_TOOL = "org.neo4j.cli.AdminTool"
_ADMIN = "org.neo4j.server.startup.Neo4jAdminCommand"
_DETACH = 'log=$1; shift; "$@" >"$log" 2>&1 </dev/null & echo $!'
"""The shell exits and leaves the server running, so that it outlives us."""
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
    tell: Callable[[str], object],
) -> int:
    """Start a detached server and wait until it answers; its process id. StoreError with the end of its log.

    `tell` hears of each step. `folder` keeps data, log and configuration; `heap` as in "768m"; `conf` has lines of
    neo4j.conf that override ours.
    """
    java = [str(find_java(release, environment)), f"-Xmx{heap}", *_FLAGS, _CLASSES, f"{fetch_jars(release, tell)}/*"]
    fresh = not (folder / "data" / "dbms").exists()
    _configure(folder, port, conf)
    if fresh:
        tell("setting a password")
        _set_password(java, folder, password)
    tell(f"starting Neo4j {release.version} from its jars")
    places = [f"--home-dir={folder}", f"--config-dir={folder / 'conf'}", "--console-mode"]
    return launch([*java, release.entry_point, *places], folder, port, wait_seconds)


def launch(
    command: Sequence[str],
    folder: Path,
    port: int,
    wait_seconds: float,
    known: Callable[[int], object] = lambda pid: None,
) -> int:
    """Start a server by its command line and wait until it answers; its process id. Errors as of `start_jars`.

    `known` is told the process id before the waiting begins.
    """
    log = folder / "server.log"
    words = ["sh", "-c", _DETACH, "sh", str(log), *command]
    done = subprocess.run(words, capture_output=True, text=True, check=True, start_new_session=True, cwd=folder)
    pid = int(done.stdout)
    try:
        known(pid)
        _wait(pid, folder, port, log, wait_seconds)
    except BaseException:
        stop_jars(pid, folder, at_once=True)
        raise
    return pid


def stop_jars(pid: int, folder: Path, *, at_once: bool = False) -> None:
    """End the server that `start_jars` started in `folder`: SIGTERM, then SIGKILL. Does nothing if it is already gone.

    `at_once` skips the SIGTERM, for a server whose data is not needed. StoreError if it cannot be ended.
    """
    server = _server(pid, folder)
    if server is None:
        return
    for end in (server.kill,) if at_once else (server.terminate, server.kill):
        try:
            end()
            server.wait(STOP_SECONDS)
        except psutil.NoSuchProcess:
            return
        except psutil.TimeoutExpired:
            continue
        except psutil.AccessDenied as error:
            raise StoreError(
                f"the Neo4j process {pid} belongs to another user", hint="ask that user to run: graphwalk db down"
            ) from error
        return
    raise StoreError(f"the Neo4j process {pid} does not end", hint=f"look at {folder / 'server.log'}")


def command_of(pid: int, folder: Path) -> list[str]:
    """The command line of the server of that folder, with which it can be started again; none where it is gone."""
    server = _server(pid, folder)
    return [] if server is None else server.cmdline()


def run_admin(command: Sequence[str], folder: Path, words: Sequence[str], cwd: Path) -> str | None:
    """Run `neo4j-admin` on the data of a stopped server, with the Java of its command line.

    None where that went well, else the end of what it said.
    """
    java = command[: command.index(_CLASSES) + 2]
    places = [f"NEO4J_HOME={folder}", f"NEO4J_CONF={folder / 'conf'}"]
    done = subprocess.run(["env", *places, *java, _TOOL, *words], capture_output=True, text=True, check=False, cwd=cwd)
    return (done.stdout + done.stderr).strip()[-1500:] if done.returncode else None


def runs_in(pid: int, folder: Path) -> bool:
    """True while the process is the server of that folder, and not another that got its number later."""
    return _server(pid, folder) is not None


def _server(pid: int, folder: Path) -> psutil.Process | None:
    try:
        process = psutil.Process(pid)
        return process if f"--home-dir={folder}" in process.cmdline() else None
    except psutil.Error:  # gone, a zombie, or another user's
        return None


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
    write_private(arguments, f"dbms\nset-initial-password\n--\n{password}\n")
    places = [f"NEO4J_HOME={folder}", f"NEO4J_CONF={folder / 'conf'}"]
    try:
        done = subprocess.run(
            ["env", *places, *java, _ADMIN, f"@{arguments}"], capture_output=True, text=True, check=False
        )
    finally:
        arguments.unlink()
    if done.returncode:
        raise StoreError(f"Neo4j did not accept a password:\n{(done.stdout + done.stderr).strip()[-1500:]}")


def _wait(pid: int, folder: Path, port: int, log: Path, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not answers_bolt(port):
        if not runs_in(pid, folder) or time.monotonic() > deadline:
            end = log.read_text(encoding="utf-8", errors="replace").strip()[-1500:]
            raise StoreError(f"Neo4j did not start:\n{end}", hint=f"look at {log}")
        time.sleep(0.1)
