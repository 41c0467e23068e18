"""A Neo4j to measure against: NEO4J_URI if it is set, else one started for the benchmark and removed after it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from graphwalk import database
from graphwalk.errors import StoreError
from graphwalk.variables import Variables, read_variables


@contextmanager
def neo4j_server() -> Iterator[Variables | str]:
    """Environment that reach a Neo4j, or the reason why there is none."""
    variables = read_variables()
    if variables.neo4j_uri:
        yield variables
        return
    with TemporaryDirectory() as home:
        variables = Variables({**variables.values, "GRAPHWALK_HOME": str(Path(home))})
        try:
            server = database.up(variables, port=None)
        except StoreError as error:
            yield str(error).splitlines()[0]
            return
        try:
            yield Variables({"NEO4J_URI": server.uri, "NEO4J_PASSWORD": server.password, "GRAPHWALK_HOME": home})
        finally:
            database.down(variables, delete=True)
