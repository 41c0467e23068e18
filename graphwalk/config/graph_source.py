"""Where somebody's own graph is: in a file, or in a Neo4j as it stands."""

from pathlib import Path
from typing import Self

from pydantic import model_validator

from graphwalk.config.strict import Strict


class GraphSource(Strict):
    """A graph that was not generated: `{file: movies.graphml}` or `{neo4j: movies}`, the name of a database.

    `labels` and `relationship_types` keep what has one of these; None keeps all.
    """

    file: Path | None = None
    neo4j: str | None = None
    labels: tuple[str, ...] | None = None
    relationship_types: tuple[str, ...] | None = None

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.file is None) == (self.neo4j is None):
            raise ValueError("give either file or neo4j")
        return self

    @property
    def name(self) -> str:
        """What the graph is called in lists and reports."""
        return self.file.stem if self.file is not None else str(self.neo4j)
