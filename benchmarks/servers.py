"""A Neo4j to measure against: NEO4J_URI if it is set, else one started for the benchmark and removed after it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from graphwalk import database
from graphwalk.errors import StoreError
from graphwalk.settings import Settings, read_settings


@contextmanager
def neo4j_server() -> Iterator[Settings | str]:
    """Environment that reach a Neo4j, or the reason why there is none."""
    settings = read_settings()
    if settings.neo4j_uri:
        yield settings
        return
    with TemporaryDirectory() as home:
        settings = Settings({**settings.variables, "GRAPHWALK_HOME": str(Path(home))})
        try:
            server = database.up(settings, port=None)
        except StoreError as error:
            yield str(error).splitlines()[0]
            return
        try:
            yield Settings({"NEO4J_URI": server.uri, "NEO4J_PASSWORD": server.password, "GRAPHWALK_HOME": home})
        finally:
            database.down(settings, delete=True)
