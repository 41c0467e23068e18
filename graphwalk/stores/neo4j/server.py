"""Start and stop a local Neo4j (`graphwalk db up | down`): in Docker with docker-compose.yml, or from the jars.

Both listen on a loopback port (GRAPHWALK_NEO4J_PORT, default 7687), where later commands find them. Each home
(GRAPHWALK_HOME) and each port has a server of its own, with its own data.
"""

import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

import platformdirs
import psutil
from neo4j import GraphDatabase
from neo4j.exceptions import AuthError, DriverError, Neo4jError

from graphwalk.errors import ConfigError, StoreError
from graphwalk.files.writing import make_folder, write_whole
from graphwalk.stores.neo4j.compose import SERVICE, ComposeProject, docker_answers
from graphwalk.stores.neo4j.local_server import (
    DEFAULT_PORT,
    answers_bolt,
    check_first_password,
    local_password,
    local_port,
)
from graphwalk.variables import Variables, process_environment, process_variable

DEFAULT_RELEASE = "5.26"
START_SECONDS = 180.0
STOP_SECONDS = 30.0
_COMPOSE_LIMITS = ("GRAPHWALK_NEO4J_HEAP", "GRAPHWALK_NEO4J_MEMORY", "GRAPHWALK_NEO4J_CPUS")
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


Way = Literal["docker", "jars"]
IN_WORDS: Mapping[Way, str] = {"docker": "in Docker", "jars": "from its jars"}


@dataclass(frozen=True)
class Started:
    """A server that answers."""

    version: str
    way: Way | None
    """None: something else started it."""
    place: str | None = None
    """Where its data is: the name of a volume, or a folder."""
    other_data: tuple[Way, str] | None = None
    """Data of the other way, which this server does not have, and its place."""


@dataclass(frozen=True)
class _Instance:
    """The server of one release, home and port, which is in Docker or runs from the jars. Each has data of its own."""

    release: Release
    home: Path
    port: int
    password: str
    variables: Variables

    @property
    def folder(self) -> Path:
        """Where the jars' server has its data: HOME/neo4j-5.26, HOME/neo4j-5.26-p7688."""
        return self.home / "-".join(["neo4j", self.release.name, *self._port_part()])

    @property
    def mark(self) -> Path:
        """A file that exists if Docker has data of it, for when Docker does not answer."""
        return self.folder.with_name(f"{self.folder.name}.docker")

    @property
    def project(self) -> ComposeProject:
        """The Compose project: for the defaults `graphwalk`, the name in docker-compose.yml."""
        parts = ["graphwalk"]
        if self.release.name != DEFAULT_RELEASE:
            parts.append(self.release.name)
        parts += self._port_part()
        # Docker has the servers of all homes; XDG_STATE_HOME moves the default one.
        if self.home != _default_home() or process_variable("XDG_STATE_HOME"):
            parts.append(f"h{sha256(str(self.home).encode()).hexdigest()[:12]}")
        settings = {name: value for name in _COMPOSE_LIMITS if (value := self.variables.get(name))}
        settings["NEO4J_PASSWORD"] = self.password
        settings["GRAPHWALK_NEO4J_VERSION"] = self.release.version
        settings["GRAPHWALK_NEO4J_PORT"] = str(self.port)
        return ComposeProject("-".join(parts), self.release.version, settings)

    def _port_part(self) -> list[str]:
        return [] if self.port == DEFAULT_PORT else [f"p{self.port}"]

    def data_places(self, docker: bool) -> dict[Way, str]:
        """Return where there is data. `docker`: Docker answers."""
        places: dict[Way, str] = {}
        volume = f"{self.project.name}_data"
        if docker and volume in self.project.volumes():
            places["docker"] = f"volume {volume}"
        if (self.folder / "data" / "dbms").exists():
            places["jars"] = str(self.folder)
        return places


def _instance(variables: Variables, release: Release) -> _Instance:
    home = variables.get("GRAPHWALK_HOME")
    folder = Path(home).expanduser().resolve() if home else _default_home()
    return _Instance(release, folder, local_port(variables), local_password(variables), variables)


def _default_home() -> Path:
    return platformdirs.user_state_path("graphwalk", appauthor=False).resolve()


def up(
    variables: Variables,
    *,
    release: str = DEFAULT_RELEASE,
    way: Way | None = None,
    tell: Callable[[str], object] = lambda step: None,
) -> Started:
    """Start Neo4j, or find it running. `tell` is called at each step.

    `way`: default the one that has data, else Docker if it has the image or can pull it, else the jars. Raise
    ConfigError for an unknown release or a password that Neo4j does not take; StoreError if the server does not start.
    """
    if release not in RELEASES:
        raise ConfigError(f"unknown Neo4j release {release!r}", hint=f"use one of: {', '.join(RELEASES)}")
    instance = _instance(variables, RELEASES[release])
    if answers_bolt(instance.port):
        return _look_at_running(instance, way)
    check_first_password(instance.password)
    docker = way != "jars" and docker_answers()
    data_before = instance.data_places(docker)
    chosen = _choose_way(instance, way, docker, data_before, tell)
    if _running_way(instance, docker) == chosen:  # another `db up` has started it
        version = await_answer(instance.port, instance.password)
        return _started(instance, version, chosen, docker)
    check_port(instance.port)
    tell(f"starting Neo4j {instance.release.version} {IN_WORDS[chosen]}")
    try:
        _start(instance, chosen, tell)
        version = await_answer(instance.port, instance.password)
    except BaseException as error:
        _undo(instance, chosen, had_data=chosen in data_before)
        if isinstance(error, StoreError):
            check_port(instance.port)  # another program may have taken it in the meantime
        raise
    return _started(instance, version, chosen, docker)


def _look_at_running(instance: _Instance, way: Way | None) -> Started:
    """Return what answers at the port. Raise StoreError if it is not the server that is asked for."""
    port, docker = instance.port, docker_answers()
    for release in RELEASES.values():
        other = _instance(instance.variables, release)
        found = _running_way(other, docker)
        if found is None:
            continue
        version = await_answer(port, instance.password)
        if release != instance.release or way not in (None, found):
            problem = f"Neo4j {version} is already running on port {port}, {IN_WORDS[found]}"
            raise StoreError(problem, hint="graphwalk db down")
        return _started(instance, version, found, docker)
    another = f"GRAPHWALK_NEO4J_PORT={port + 1} graphwalk db up"
    version = await_answer(
        port,
        instance.password,
        f"it was not started by `graphwalk db up`; its NEO4J_PASSWORD, or another port: {another}",
    )
    if way is not None or not version.startswith(instance.release.name):
        problem = f"Neo4j {version} is already running on port {port}, and was not started by `graphwalk db up`"
        raise StoreError(problem, hint=f"another port: {another}")
    return Started(version, None)


def _running_way(instance: _Instance, docker: bool) -> Way | None:
    if server_in(instance.folder) is not None:
        return "jars"
    if docker and instance.project.states().get(SERVICE) == "running":
        return "docker"
    return None


def _start(instance: _Instance, way: Way, tell: Callable[[str], object]) -> None:
    """Start a server, and wait until it speaks Bolt."""
    if way == "docker":
        _write_private(instance.mark, "")
        instance.project.start(instance.port, START_SECONDS)
        return
    start_jars(
        instance.folder,
        instance.release,
        instance.port,
        instance.password,
        variables=instance.variables,
        tell=tell,
    )


def _started(instance: _Instance, version: str, way: Way, docker: bool) -> Started:
    data = instance.data_places(docker)
    place = data.pop(way, None)
    return Started(version, way, place, next(iter(data.items()), None))


def _choose_way(
    instance: _Instance, way: Way | None, docker: bool, data: Mapping[Way, str], tell: Callable[[str], object]
) -> Way:
    """Choose between Docker and the jars; for Docker, its image is here afterwards."""
    if way == "jars":
        return "jars"
    if way == "docker" and not docker:
        raise StoreError(
            "Docker does not answer, or has no Compose", hint="start Docker, or: graphwalk db up --with jars"
        )
    if not docker:
        if instance.mark.exists() and not data:
            raise StoreError(
                "the data of this Neo4j is in Docker, which does not answer",
                hint="start Docker; or, for another Neo4j without that data: graphwalk db up --with jars",
            )
        return "jars"
    if way is None and "docker" not in data:
        if "jars" in data:
            return "jars"
        try:
            instance.project.fetch_image(tell)
        except StoreError as error:
            tell(f"{error.message}; trying the jars")
            return "jars"
    instance.project.fetch_image(tell)
    return "docker"


def check_port(port: int) -> None:
    """Raise StoreError if a server on this machine cannot have the port."""
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError as error:
        raise StoreError(
            f"port {port} is in use by another program, or not allowed: {error.strerror}",
            hint=f"another port: GRAPHWALK_NEO4J_PORT={port + 1} graphwalk db up   (also for later commands)",
        ) from error


def _undo(instance: _Instance, way: Way, *, had_data: bool) -> None:
    """Remove what a start that failed has created; data that was there before stays."""
    if way == "docker":
        instance.project.remove(volumes=not had_data)
        if not had_data:
            instance.mark.unlink(missing_ok=True)
        return
    stop_jars(instance.folder, at_once=True)
    if not had_data:
        # The log, which the message names, stays.
        shutil.rmtree(instance.folder / "data", ignore_errors=True)


def down(variables: Variables, *, delete: bool = False) -> list[str]:
    """Stop the servers of `up`, with `delete` remove their data. Return a line for each thing that was done.

    Raise StoreError if data cannot be deleted.
    """
    done: list[str] = []
    docker = docker_answers()
    left: list[str] = []
    for release in RELEASES.values():
        instance = _instance(variables, release)
        done += _stop_jars_of(instance, delete)
        if docker:
            done += _stop_docker_of(instance, delete)
        elif delete and instance.mark.exists():
            left.append(f"{instance.project.name}_data")
    if left:
        problem = f"Docker does not answer, so its data stays: {', '.join(left)}"
        raise StoreError("\n".join([*done, problem]), hint="start Docker, then: graphwalk db down --delete")
    return done


def _stop_jars_of(instance: _Instance, delete: bool) -> list[str]:
    done = []
    if server_in(instance.folder) is not None:
        answered = answers_bolt(instance.port)
        stop_jars(instance.folder, at_once=delete)
        done.append(_stopped(instance, "jars", "running" if answered else "starting"))
    if delete and instance.folder.exists():
        try:
            shutil.rmtree(instance.folder)
        except OSError as error:
            raise StoreError(f"{instance.folder} cannot be deleted: {error.strerror}") from error
        done.append(f"deleted its data: {instance.folder}")
    return done


def _stop_docker_of(instance: _Instance, delete: bool) -> list[str]:
    project = instance.project
    done = []
    state = project.states().get(SERVICE)
    volumes = project.volumes() if delete else []
    if state == "running" and not answers_bolt(instance.port):
        state = "starting"
    if project.has_leftovers() or volumes:
        project.remove(volumes=delete)
    if state is not None:
        done.append(_stopped(instance, "docker", state))
    if volumes:
        names = ", ".join(f"volume {name}" for name in volumes)
        done.append(f"deleted its data: {names}")
    if delete:
        instance.mark.unlink(missing_ok=True)
    return done


def _stopped(instance: _Instance, way: Way, state: str) -> str:
    what = f"Neo4j {instance.release.version} {IN_WORDS[way]}"
    if state == "running":
        return f"stopped {what}"
    return f"removed {what}, which was {state}"


def await_answer(
    port: int,
    password: str,
    hint: str = "set NEO4J_PASSWORD to that of its data, or remove the data: graphwalk db down --delete",
) -> str:
    """Wait until the server answers a query, some time after its first Bolt handshake; return its version.

    `hint`: what to do about a wrong password.
    """
    deadline = time.monotonic() + START_SECONDS
    uri = f"bolt://127.0.0.1:{port}"
    with GraphDatabase.driver(uri, auth=("neo4j", password)) as driver:
        while True:
            try:
                rows = driver.execute_query("CALL dbms.components() YIELD versions RETURN versions[0] AS version")
                return str(rows.records[0]["version"])
            except AuthError as error:
                raise StoreError(f"Neo4j at {uri} refuses the password", hint=hint) from error
            except (DriverError, Neo4jError, OSError) as error:  # also a limit on passwords, which ends after seconds
                if time.monotonic() > deadline:
                    raise StoreError(f"Neo4j at {uri} does not answer: {error}", hint="graphwalk db down") from error
            time.sleep(0.2)


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
    settings = {f"server.directories.{name}": str(folder / name) for name in _FOLDERS}
    settings |= {
        "server.bolt.enabled": "true",
        "server.bolt.listen_address": f"127.0.0.1:{port}",
        "server.http.enabled": "false",
        "server.https.enabled": "false",
        "dbms.security.auth_enabled": "true",
        "dbms.usage_report.enabled": "false",
        "server.memory.pagecache.size": "128m",
        "db.transaction.timeout": "600s",
    }
    settings |= conf or {}
    lines = "".join(f"{name}={value}\n" for name, value in settings.items())
    _write_private(folder / "conf" / "neo4j.conf", lines)
    if not (folder / "data" / "dbms").exists():
        # Through a private file, since other users can see command lines.
        arguments = folder / "conf" / "initial-password"
        _write_private(arguments, f"dbms\nset-initial-password\n--\n{_quoted(password)}\n")
        try:
            output = _failure_output([*java, _ADMIN, f"@{arguments}"], home=folder)
            if output:
                raise StoreError(f"Neo4j did not accept the password:\n{output}")
        finally:
            arguments.unlink()
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
        ends = [server.kill] if at_once else [server.terminate, server.kill]
        for end in ends:
            end()
            with suppress(psutil.TimeoutExpired):
                server.wait(STOP_SECONDS)
                return
        raise StoreError(f"the Neo4j process {server.pid} does not stop", hint=f"see {folder / 'server.log'}")


def server_in(folder: Path) -> psutil.Process | None:
    """Return the running server whose data is in `folder`."""
    home = f"--home-dir={folder}"
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if home in words:
            return process
    return None


def find_java(release: Release, variables: Variables) -> Path:
    """Return a `java` for the release: JAVA_HOME, an installed JDK, or PATH. Raise StoreError if there is none."""
    for binary in _java_binaries(variables):
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


def _java_binaries(variables: Variables) -> list[Path]:
    """Return the programs that may be a `java`, the user's choice first."""
    homes = []
    java_home = variables.get("JAVA_HOME")
    if java_home:
        homes.append(Path(java_home))
    for folder, pattern in _JVM_FOLDERS:
        homes.extend(sorted(Path(folder).glob(pattern)))

    binaries = [home / "bin" / "java" for home in homes]
    on_path = shutil.which("java")
    if on_path is not None:
        binaries.append(Path(on_path))
    return binaries


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
        pom = Path(scratch) / "pom.xml"
        jars = Path(scratch) / "jars"
        pom.write_text(_POM.format(*artifact.split(":")), encoding="utf-8")
        command = [maven, "-q", "-B", "-f", str(pom), "dependency:copy-dependencies", f"-DoutputDirectory={jars}"]
        output = _failure_output([*command, *options])
        if output or not jars.is_dir():
            raise StoreError(
                f"Maven could not fetch {artifact}:\n{output}",
                hint="check the network and the Maven settings, then run the command again",
            )
        try:
            jars.rename(target)
        except OSError:
            if not target.exists():  # otherwise another process was faster, with the same jars
                raise
    return target


def _failure_output(command: Sequence[str], home: Path | None = None) -> str:
    """Run a command and return the end of its output if it fails, else "". `home`: of a tool of Neo4j."""
    environment = process_environment()
    if home is not None:
        environment["NEO4J_HOME"] = str(home)
        environment["NEO4J_CONF"] = str(home / "conf")
        environment["LC_ALL"] = "C.UTF-8"  # in which Java reads a password beyond ASCII
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode == 0:
        return ""
    return (done.stdout + done.stderr).strip()[-1500:] or f"exit code {done.returncode}"


def _quoted(argument: str) -> str:
    """Return an argument as Neo4j's tools read it from a file, which may have blanks, "#", quotes and backslashes."""
    escaped = argument.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _write_private(file: Path, text: str) -> None:
    make_folder(file.parent, private=True, error=StoreError)
    write_whole(file, [text], private=True, error=StoreError)
