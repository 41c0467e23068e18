"""A Neo4j to measure against: NEO4J_URI if it is set, else one started for the benchmark and removed after it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from graphwalk import database
from graphwalk.environment import Environment, read_environment
from graphwalk.errors import StoreError


@contextmanager
def neo4j_server() -> Iterator[Environment | str]:
    """Environment that reach a Neo4j, or the reason why there is none."""
    given = read_environment()
    if given.neo4j_uri:
        yield given
        return
    with TemporaryDirectory() as home:
        environment = Environment({**given.variables, "GRAPHWALK_HOME": str(Path(home))})
        try:
            server = database.up(environment, port=None)
        except StoreError as error:
            yield str(error).splitlines()[0]
            return
        try:
            yield Environment({"NEO4J_URI": server.uri, "NEO4J_PASSWORD": server.password, "GRAPHWALK_HOME": home})
        finally:
            database.down(environment, delete=True)


@contextmanager
def own_server(release: str, heap: str) -> Iterator[Environment]:
    """Environment that reach an empty Neo4j from the jars, which may be stopped and filled by its importer."""
    kept = {name: value for name, value in read_environment().variables.items() if not name.startswith("NEO4J_")}
    with TemporaryDirectory(prefix="graphwalk-bench-") as home:
        environment = Environment({**kept, "GRAPHWALK_HOME": home})
        database.up(environment, with_="jars", release=release, port=None, heap=heap)
        try:
            yield environment
        finally:
            database.down(environment, delete=True)
