"""Where somebody's own graph is: in a file, in a Neo4j as it stands, or where `db load` put it."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

from pydantic import model_validator

from graphwalk.config.strict import Strict
from graphwalk.errors import ConfigError

EXAMPLE = "example"
"""The graph that ships, which needs no file."""


class GraphSource(Strict):
    """A graph that was not generated: `{file: movies.graphml}` or `{neo4j: movies}`, the name of a database.

    `{loaded: gw_3f2a90c1d77e}` is a graph that `graphwalk db load` left in Neo4j, by its label. `labels` and
    `relationship_types` keep what has one of these; None keeps all.
    """

    file: Path | None = None
    """A file or folder; "example" is the graph that ships."""
    neo4j: str | None = None
    """The name of a database, which is walked as it stands."""
    loaded: str | None = None
    """The label of a graph that `graphwalk db load` left in Neo4j."""
    labels: tuple[str, ...] | None = None
    """Only nodes with one of these."""
    relationship_types: tuple[str, ...] | None = None
    """Only relationships of these."""

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if sum(place is not None for place in (self.file, self.neo4j, self.loaded)) != 1:
            raise ValueError("give one of file, neo4j and loaded")
        return self

    @property
    def name(self) -> str:
        """What the graph is called in lists and reports."""
        return self.file.stem if self.file is not None else str(self.neo4j or self.loaded)


def check_filter(what: str, chosen: Sequence[str] | None, there: Iterable[str]) -> None:
    """Raise ConfigError if a filter keeps nothing, or names a label or type (`what`) that the graph does not have."""
    known = sorted(set(there))
    missing = [name for name in chosen or () if name not in known]
    if missing or (chosen is not None and not chosen):
        problem = f"the graph has no {what} {', '.join(map(repr, missing))}"
        raise ConfigError(
            problem if missing else f"an empty list of {what}s keeps nothing", hint=f"there are: {', '.join(known)}"
        )
