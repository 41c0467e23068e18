"""A Neo4j to measure against: NEO4J_URI if it is set, else one started for the benchmark and removed after it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from graphwalk import database
from graphwalk.errors import StoreError
from graphwalk.settings import Settings, load_settings


@contextmanager
def neo4j_server() -> Iterator[Settings | str]:
    """Settings that reach a Neo4j, or the reason why there is none."""
    given = load_settings()
    if given.neo4j_uri:
        yield given
        return
    with TemporaryDirectory() as home:
        settings = Settings({**given.variables, "GRAPHWALK_HOME": str(Path(home))})
        try:
            server = database.up(settings, port=None)
        except StoreError as error:
            yield str(error).splitlines()[0]
            return
        try:
            yield Settings({"NEO4J_URI": server.uri, "NEO4J_PASSWORD": server.password, "GRAPHWALK_HOME": home})
        finally:
            database.down(settings, delete=True)
