"""Start and stop a local Neo4j (`graphwalk db up | down`): docker-compose.yml where Docker runs, else the jars.

Both listen on a loopback port (GRAPHWALK_NEO4J_PORT, default 7687), where later commands find them.
"""

import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import platformdirs
import psutil
from neo4j import GraphDatabase
from neo4j.exceptions import AuthError, DriverError, Neo4jError

from graphwalk.config.resources import data_path
from graphwalk.errors import ConfigError, StoreError
from graphwalk.files.writing import make_folder, write_whole
from graphwalk.stores.neo4j.local_server import answers_bolt, local_password, local_port
from graphwalk.variables import Variables

DEFAULT_RELEASE = "5.26"
START_SECONDS = 180.0
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


def up(
    variables: Variables, *, release: str = DEFAULT_RELEASE, tell: Callable[[str], object] = lambda step: None
) -> str:
    """Start Neo4j, or find it running; return its version. `tell` is called at each step.

    Raise ConfigError for an unknown release; StoreError if the server does not start.
    """
    if release not in RELEASES:
        raise ConfigError(f"unknown Neo4j release {release!r}", hint=f"use one of: {', '.join(RELEASES)}")
    chosen, port, password = RELEASES[release], local_port(variables), local_password(variables)
    if answers_bolt(port):
        version = await_answer(port, password)
        if not version.startswith(release):
            raise StoreError(f"Neo4j {version} is already running on port {port}", hint="graphwalk db down")
        return version
    if docker_answers():
        tell(f"starting Neo4j {chosen.version} with Docker (the first time it fetches several hundred MB)")
        _compose(variables, chosen, "up", "--detach", "--wait", "neo4j")
    else:
        start_jars(_folder(variables, chosen), chosen, port, password, variables=variables, tell=tell)
    return await_answer(port, password)


def down(variables: Variables, *, delete: bool = False) -> bool:
    """Stop the server of `up`, with `delete` remove its data; return True if one was running."""
    was_running = answers_bolt(local_port(variables))
    for release in RELEASES.values():
        if docker_answers():
            _compose(variables, release, "down", *(["--volumes"] if delete else []))
        folder = _folder(variables, release)
        stop_jars(folder, at_once=delete)
        if delete:
            shutil.rmtree(folder, ignore_errors=True)
    return was_running


def await_answer(port: int, password: str) -> str:
    """Wait until the server answers a query, some time after its first Bolt handshake; return its version."""
    deadline, uri = time.monotonic() + START_SECONDS, f"bolt://127.0.0.1:{port}"
    with GraphDatabase.driver(uri, auth=("neo4j", password)) as driver:
        while True:
            try:
                rows = driver.execute_query("CALL dbms.components() YIELD versions RETURN versions[0] AS version")
                return str(rows.records[0]["version"])
            except AuthError as error:
                raise StoreError(
                    f"Neo4j at {uri} refuses the password",
                    hint="set NEO4J_PASSWORD, or remove its data: graphwalk db down --delete",
                ) from error
            except (DriverError, Neo4jError, OSError) as error:
                if time.monotonic() > deadline:
                    raise StoreError(f"Neo4j at {uri} does not answer: {error}", hint="graphwalk db down") from error
            time.sleep(0.2)


def docker_answers() -> bool:
    """Return True if this user can use a Docker engine with Compose."""
    try:
        return subprocess.run(["docker", "compose", "ls"], capture_output=True, timeout=20, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _folder(variables: Variables, release: Release) -> Path:
    """Return the folder of a server's data: in GRAPHWALK_HOME, else in the user's state folder."""
    home = variables.get("GRAPHWALK_HOME")
    state = Path(home).expanduser() if home else platformdirs.user_state_path("graphwalk", appauthor=False)
    return state.absolute() / f"neo4j-{release.name}"


def _compose(variables: Variables, release: Release, *words: str) -> None:
    """Run a command of Docker Compose on docker-compose.yml; each release has a volume of its own."""
    settings = _folder(variables, release).with_suffix(".env")
    text = (
        f"NEO4J_PASSWORD={local_password(variables)}\nGRAPHWALK_NEO4J_VERSION={release.version}\n"
        f"GRAPHWALK_NEO4J_PORT={local_port(variables)}\n"
    )
    _write_private(settings, text)
    project = "graphwalk" if release.name == DEFAULT_RELEASE else f"graphwalk-{release.name}"
    files = ["--file", str(data_path("docker-compose.yml")), "--env-file", str(settings)]
    if output := _failure_output(["docker", "compose", "--project-name", project, *files, *words]):
        raise StoreError(f"docker compose {words[0]} failed:\n{output}", hint=f"docker compose -p {project} logs neo4j")


def start_jars(
    folder: Path,
    release: Release,
    port: int,
    password: str,
    *,
    variables: Variables,
    heap: str = "1g",
    conf: Mapping[str, str] | None = None,
    tell: Callable[[str], object] = lambda step: None,
) -> None:
    """Start a server with its data in `folder`, and wait until it speaks Bolt.

    `heap` as in "768m"; `conf` overrides lines of neo4j.conf. Raise StoreError with the end of the log if it does not
    start.
    """
    jars = fetch_jars(release.version, f"org.neo4j:neo4j:{release.version}", tell=tell)
    java = [str(find_java(release, variables)), f"-Xmx{heap}", *_FLAGS, "-cp", f"{jars}/*"]
    lines = {f"server.directories.{name}": str(folder / name) for name in _FOLDERS} | {
        "server.bolt.enabled": "true",
        "server.bolt.listen_address": f"127.0.0.1:{port}",
        "server.http.enabled": "false",
        "server.https.enabled": "false",
        "dbms.security.auth_enabled": "true",
        "dbms.usage_report.enabled": "false",
        "server.memory.pagecache.size": "128m",
        "db.transaction.timeout": "600s",
        **(conf or {}),
    }
    _write_private(folder / "conf" / "neo4j.conf", "".join(f"{name}={value}\n" for name, value in lines.items()))
    if not (folder / "data" / "dbms").exists():
        tell("setting a password")
        # Through a private file, since other users can see command lines.
        arguments = folder / "conf" / "initial-password"
        _write_private(arguments, f"dbms\nset-initial-password\n--\n{password}\n")
        try:
            if output := _failure_output([*java, _ADMIN, f"@{arguments}"], home=folder):
                raise StoreError(f"Neo4j did not accept the password:\n{output}")
        finally:
            arguments.unlink()
    tell(f"starting Neo4j {release.version} from its jars")
    log = folder / "server.log"
    places = [f"--home-dir={folder}", f"--config-dir={folder / 'conf'}", "--console-mode"]
    words = ["sh", "-c", _DETACH, "sh", str(log), *java, release.entry_point, *places]
    subprocess.run(words, capture_output=True, check=True, start_new_session=True, cwd=folder)
    deadline = time.monotonic() + START_SECONDS
    try:
        while not answers_bolt(port):
            if server_in(folder) is None or time.monotonic() > deadline:
                end = log.read_text(encoding="utf-8", errors="replace").strip()[-1500:]
                raise StoreError(f"Neo4j did not start:\n{end}", hint=f"see {log}")
            time.sleep(0.1)
    except BaseException:
        stop_jars(folder, at_once=True)
        raise


def stop_jars(folder: Path, *, at_once: bool = False) -> None:
    """Stop the server of `start_jars`, if it runs: SIGTERM, then SIGKILL; `at_once`: SIGKILL only."""
    server = server_in(folder)
    if server is None:
        return
    with suppress(psutil.NoSuchProcess):
        for end in (server.kill,) if at_once else (server.terminate, server.kill):
            end()
            with suppress(psutil.TimeoutExpired):
                server.wait(STOP_SECONDS)
                return
        raise StoreError(f"the Neo4j process {server.pid} does not stop", hint=f"see {folder / 'server.log'}")


def server_in(folder: Path) -> psutil.Process | None:
    """Return the running server whose data is in `folder`."""
    home = f"--home-dir={folder}"
    return next((p for p in psutil.process_iter(["cmdline"]) if home in (p.info["cmdline"] or ())), None)


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
    """Return the cached folder with the jars of "GROUP:NAME:VERSION", fetched with Maven the first time."""
    cache = platformdirs.user_cache_path("graphwalk-neo4j", appauthor=False)
    target = cache / name
    if target.exists():
        return target
    maven = shutil.which("mvn")
    if maven is None:
        raise StoreError(
            f"cannot fetch {artifact}: mvn (Maven) not found",
            hint="install Maven or Docker, or set NEO4J_URI to a running server",
        )
    tell(f"fetching {artifact} with Maven, the first time only (up to 150 MB)")
    make_folder(cache, error=StoreError)
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


def _failure_output(command: Sequence[str], home: Path | None = None) -> str:
    """Run a command and return the end of its output if it fails, else "". `home`: of a tool of Neo4j."""
    words = ["env", *([f"NEO4J_HOME={home}", f"NEO4J_CONF={home / 'conf'}"] if home else []), *command]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).strip()[-1500:] or f"exit code {done.returncode}" if done.returncode else ""


def _write_private(file: Path, text: str) -> None:
    make_folder(file.parent, private=True, error=StoreError)
    write_whole(file, [text], private=True, error=StoreError)
