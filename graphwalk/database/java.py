"""What a Neo4j without Docker needs: a Java of the right version, and the published jars."""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from graphwalk.database.cache import cache_folder
from graphwalk.database.releases import Release
from graphwalk.environment import Environment
from graphwalk.errors import StoreError
from graphwalk.files import make_folder

_JVM_FOLDERS = (("/usr/lib/jvm", "*"), ("/Library/Java/JavaVirtualMachines", "*/Contents/Home"))
_VERSION = re.compile(r'version "(\d+)')
_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>local</groupId><artifactId>local</artifactId><version>1</version><dependencies><dependency>
<groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency></dependencies></project>
"""


def find_java(release: Release, environment: Environment) -> Path:
    """A `java` that runs the release. StoreError if there is none."""
    for binary in _javas(environment):
        if _java_version(binary) in release.java:
            return binary
    versions = " or ".join(map(str, release.java))
    raise StoreError(
        f"Neo4j {release.version} needs Java {versions}, and none was found",
        hint=f"install a JDK {versions} (or set JAVA_HOME), install Docker, or set NEO4J_URI",
    )


def _javas(environment: Environment) -> Iterator[Path]:
    if home := environment.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java"
    for folder, pattern in _JVM_FOLDERS:
        for jvm in sorted(Path(folder).glob(pattern)):
            yield jvm / "bin" / "java"
    if on_path := shutil.which("java"):
        yield Path(on_path)


def _java_version(binary: Path) -> int | None:
    try:
        done = subprocess.run([binary, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = _VERSION.search(done.stderr)
    return int(found[1]) if found else None


def fetch_jars(release: Release, tell: Callable[[str], object] = lambda step: None) -> Path:
    """The folder with the jars of a release, fetched with Maven the first time, which `tell` hears of.

    StoreError where that fails.
    """
    return _fetched(release.version, f"org.neo4j:neo4j:{release.version}", alone=False, tell=tell)


def fetch_artifact(artifact: str) -> Path:
    """The folder with the jar of one artifact, "GROUP:NAME:VERSION", without what it depends on; as `fetch_jars`."""
    return _fetched(artifact.replace(":", "-"), artifact, alone=True, tell=lambda step: None)


def _fetched(name: str, artifact: str, *, alone: bool, tell: Callable[[str], object]) -> Path:
    cache = cache_folder()
    target = cache / name
    if target.exists():
        return target
    tell(f"fetching {artifact} with Maven, this first time" + ("" if alone else " (some 150 MB)"))
    make_folder(cache, error=StoreError)
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        fetched = Path(scratch) / "jars"
        _run_maven(artifact, Path(scratch) / "pom.xml", fetched, alone=alone)
        try:
            fetched.rename(target)
        except OSError:
            if not target.exists():  # otherwise another process was faster, with the same jars
                raise
    return target


def _run_maven(artifact: str, pom: Path, target: Path, *, alone: bool) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise StoreError(
            f"fetching {artifact} needs Maven, and there is no mvn",
            hint="install Maven or Docker, or set NEO4J_URI to a running server",
        )
    pom.write_text(_POM.format(*artifact.split(":")), encoding="utf-8")
    command = [maven, "-q", "-B", "-f", str(pom), "dependency:copy-dependencies", f"-DoutputDirectory={target}"]
    command += ["-DexcludeTransitive=true"] if alone else []
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or not target.is_dir():
        raise StoreError(
            f"Maven could not fetch {artifact}:\n{(done.stdout + done.stderr).strip()[-1500:]}",
            hint="check the network and the Maven settings, then run the command again",
        )
