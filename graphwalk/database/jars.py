"""Fetch, start and stop a Neo4j Community server from its published jars, on a loopback port."""

import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import platformdirs
import psutil

from graphwalk.errors import ConfigError, StoreError
from graphwalk.files.writing import make_folder
from graphwalk.stores.neo4j.local_server import LocalServer, answers_bolt, write_private
from graphwalk.variables import Variables

DEFAULT_RELEASE = "5.26"
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
_ADMIN = "org.neo4j.server.startup.Neo4jAdminCommand"
_DETACH = 'log=$1; shift; "$@" >"$log" 2>&1 </dev/null & echo $!'
"""The shell exits and leaves the server running, so that it outlives us."""
_FOLDERS = ("data", "logs", "run", "import", "plugins", "licenses", "lib")
_JVM_FOLDERS = (("/usr/lib/jvm", "*"), ("/Library/Java/JavaVirtualMachines", "*/Contents/Home"))
_VERSION = re.compile(r'version "(\d+)')
_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>local</groupId><artifactId>local</artifactId><version>1</version><dependencies><dependency>
<groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency></dependencies></project>
"""


@dataclass(frozen=True)
class Release:
    """A pinned release: its published version, the class that starts it, the Java versions it runs on."""

    name: str
    version: str
    entry_point: str
    java: tuple[int, ...]


RELEASES = {
    release.name: release
    for release in (
        Release("5.26", "5.26.30", "org.neo4j.server.CommunityEntryPoint", (17, 21)),
        Release("2026", "2026.08.1", "org.neo4j.server.Neo4jCommunity", (21, 25)),
    )
}


def release_named(name: str) -> Release:
    """Return a release by name. Raise ConfigError if it is unknown."""
    if name not in RELEASES:
        raise ConfigError(f"unknown Neo4j release {name!r}", hint=f"use one of: {', '.join(RELEASES)}")
    return RELEASES[name]


def start_jars(
    server: LocalServer,
    variables: Variables,
    *,
    heap: str,
    conf: Mapping[str, str],
    wait_seconds: float,
    tell: Callable[[str], object],
) -> LocalServer:
    """Start a server, wait until it answers, and return it with its process id.

    `heap` as in "768m"; `conf` overrides lines of neo4j.conf; `tell` is called at each step. Raise StoreError with the
    end of the log if the server does not start.
    """
    release, folder = release_named(server.release), server.folder
    jars = fetch_jars(release.version, f"org.neo4j:neo4j:{release.version}", tell=tell)
    java = [str(find_java(release, variables)), f"-Xmx{heap}", *_FLAGS, _CLASSES, f"{jars}/*"]
    lines = {f"server.directories.{name}": str(folder / name) for name in _FOLDERS} | {
        "server.bolt.enabled": "true",
        "server.bolt.listen_address": f"127.0.0.1:{server.port}",
        "server.http.enabled": "false",
        "server.https.enabled": "false",
        "dbms.security.auth_enabled": "true",
        "dbms.usage_report.enabled": "false",
        "server.memory.pagecache.size": "128m",
        "db.transaction.timeout": "600s",
        **conf,
    }
    write_private(folder / "conf" / "neo4j.conf", "".join(f"{name}={value}\n" for name, value in lines.items()))
    if not (folder / "data" / "dbms").exists():
        tell("setting a password")
        # Through a private file, since other users can see command lines.
        arguments = folder / "conf" / "initial-password"
        write_private(arguments, f"dbms\nset-initial-password\n--\n{server.password}\n")
        try:
            if output := _failure_output([*java, _ADMIN, f"@{arguments}"], home=folder):
                raise StoreError(f"Neo4j did not accept a password:\n{output}")
        finally:
            arguments.unlink()
    tell(f"starting Neo4j {release.version} from its jars")
    places = [f"--home-dir={folder}", f"--config-dir={folder / 'conf'}", "--console-mode"]
    return replace(server, pid=_launch([*java, release.entry_point, *places], folder, server.port, wait_seconds))


def _launch(command: Sequence[str], folder: Path, port: int, wait_seconds: float) -> int:
    """Start a server by its command line, wait until it answers, and return its process id."""
    log = folder / "server.log"
    done = subprocess.run(
        ["sh", "-c", _DETACH, "sh", str(log), *command],
        capture_output=True,
        text=True,
        check=True,
        start_new_session=True,
        cwd=folder,
    )
    pid, deadline = int(done.stdout), time.monotonic() + wait_seconds
    try:
        while not answers_bolt(port):
            if not runs_in(pid, folder) or time.monotonic() > deadline:
                end = log.read_text(encoding="utf-8", errors="replace").strip()[-1500:]
                raise StoreError(f"Neo4j did not start:\n{end}", hint=f"see {log}")
            time.sleep(0.1)
    except BaseException:
        stop_jars(pid, folder, at_once=True)
        raise
    return pid


def stop_jars(pid: int, folder: Path, *, at_once: bool = False) -> None:
    """Stop the server that `start_jars` started in `folder`: SIGTERM, then SIGKILL. Do nothing if it has ended.

    `at_once` skips the SIGTERM, for a server whose data is not needed. Raise StoreError if it cannot be stopped.
    """
    server = _server(pid, folder)
    if server is None:
        return
    try:
        for end in (server.kill,) if at_once else (server.terminate, server.kill):
            end()
            with suppress(psutil.TimeoutExpired):
                server.wait(STOP_SECONDS)
                return
    except psutil.NoSuchProcess:
        return
    except psutil.AccessDenied as error:
        problem, hint = f"the Neo4j process {pid} belongs to another user", "ask that user to run: graphwalk db down"
        raise StoreError(problem, hint=hint) from error
    raise StoreError(f"the Neo4j process {pid} does not stop", hint=f"see {folder / 'server.log'}")


def _failure_output(command: Sequence[str], home: Path | None = None) -> str:
    """Run a command and return the end of its output if it fails, else "". `home`: of a tool of Neo4j."""
    words = ["env", *([f"NEO4J_HOME={home}", f"NEO4J_CONF={home / 'conf'}"] if home else []), *command]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).strip()[-1500:] or f"exit code {done.returncode}" if done.returncode else ""


def runs_in(pid: int, folder: Path) -> bool:
    """Return True while the process is the server of that folder; process ids are reused."""
    return _server(pid, folder) is not None


def _server(pid: int, folder: Path) -> psutil.Process | None:
    try:
        process = psutil.Process(pid)
        return process if f"--home-dir={folder}" in process.cmdline() else None
    except psutil.Error:  # gone, a zombie, or another user's
        return None


def find_java(release: Release, variables: Variables) -> Path:
    """Return a `java` for the release: JAVA_HOME, an installed JDK, or PATH. Raise StoreError if there is none."""
    home, on_path = variables.get("JAVA_HOME"), shutil.which("java")
    installed = [jvm for folder, pattern in _JVM_FOLDERS for jvm in sorted(Path(folder).glob(pattern))]
    candidates = [jvm / "bin" / "java" for jvm in ([Path(home)] if home else []) + installed]
    for binary in [*candidates, *([Path(on_path)] if on_path else [])]:
        try:
            done = subprocess.run([binary, "-version"], capture_output=True, text=True, timeout=60, check=False)
        except (OSError, subprocess.TimeoutExpired):
            continue
        version = _VERSION.search(done.stderr)
        if version and int(version[1]) in release.java:
            return binary
    versions = " or ".join(map(str, release.java))
    raise StoreError(
        f"Neo4j {release.version} needs Java {versions}: not found",
        hint=f"install a JDK {versions} (or set JAVA_HOME), install Docker, or set NEO4J_URI",
    )


def fetch_jars(
    name: str, artifact: str, options: Sequence[str] = (), tell: Callable[[str], object] = lambda step: None
) -> Path:
    """Return the cached folder with the jars of "GROUP:NAME:VERSION", fetched with Maven the first time.

    `tell` is called then. Raise StoreError if that fails.
    """
    cache = cache_folder()
    target = cache / name
    if target.exists():
        return target
    tell(f"fetching {artifact} with Maven, the first time only (up to 150 MB)")
    make_folder(cache, error=StoreError)
    maven = shutil.which("mvn")
    if maven is None:
        raise StoreError(
            f"cannot fetch {artifact}: mvn (Maven) not found",
            hint="install Maven or Docker, or set NEO4J_URI to a running server",
        )
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        pom, fetched = Path(scratch) / "pom.xml", Path(scratch) / "jars"
        pom.write_text(_POM.format(*artifact.split(":")), encoding="utf-8")
        command = [maven, "-q", "-B", "-f", str(pom), "dependency:copy-dependencies", f"-DoutputDirectory={fetched}"]
        if (output := _failure_output([*command, *options])) or not fetched.is_dir():
            raise StoreError(
                f"Maven could not fetch {artifact}:\n{output}",
                hint="check the network and the Maven settings, then run the command again",
            )
        try:
            fetched.rename(target)
        except OSError:
            if not target.exists():  # otherwise another process was faster, with the same jars
                raise
    return target


def cache_folder() -> Path:
    """Return the folder of all fetched files, which may not exist."""
    return platformdirs.user_cache_path("graphwalk-neo4j", appauthor=False)
