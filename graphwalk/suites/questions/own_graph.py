"""Somebody's own graph as an entry of `suite.graphs`, beside those that are generated."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Discriminator, Tag, ValidationInfo, model_validator

from graphwalk.config.graph_source import EXAMPLE, GraphSource
from graphwalk.config.strict import absolute
from graphwalk.graphs.random.spec import GraphSpec


def _there(path: Any, info: ValidationInfo) -> Any:
    if not isinstance(path, str | Path):
        return path
    whole = absolute(path, info)
    if not whole.exists():
        if str(path) == EXAMPLE:
            return path
        raise ValueError(f"there is no file {whole}")
    return whole


class OwnGraph(GraphSource):
    """`{file: movies.graphml}` or `{neo4j: movies}`, of which `labels` and `relationship_types` keep a part.

    `twin`: the same questions are asked on its anonymised twin too.
    """

    file: Annotated[Path, BeforeValidator(_there)] | None = None
    twin: bool = False

    @model_validator(mode="after")
    def _keeps_something(self) -> Self:
        for name in ("labels", "relationship_types"):
            if getattr(self, name) == ():
                raise ValueError(f"{name}: an empty list keeps nothing; leave the field out to keep all")
        return self

    @property
    def facts(self) -> dict[str, Any]:
        """What a run says about where the graph is from."""
        place = f"file {self.file.name}" if self.file is not None else f"neo4j {self.neo4j or self.loaded}"
        return {"name": self.name, "source": place}


def _kind(entry: Any) -> str:
    own = (
        bool({"file", "neo4j", "loaded"} & entry.keys())
        if isinstance(entry, Mapping)
        else isinstance(entry, GraphSource)
    )
    return "(own)" if own else "(generated)"


AnyGraph = Annotated[Annotated[GraphSpec, Tag("(generated)")] | Annotated[OwnGraph, Tag("(own)")], Discriminator(_kind)]
"""Told apart by their fields: an own graph says where it is."""
