"""Configuration of the suite `graphwalks`."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field, PositiveInt, model_validator

from graphwalk.config.strict import ExistingFile, Spec, SuiteConfig
from graphwalk.suites.graph_prompts import query_texts

Operation = Literal["bfs", "parents"]


class ProblemSpec(Spec):
    """Random graphs of `nodes` nodes with exactly `out_degree` edges from each, and one problem per operation."""

    nodes: int = Field(default=40, ge=1, le=100_000)
    """Nodes of the graph."""
    out_degree: int = Field(default=3, ge=1, le=50)
    """Edges from each node; parallel edges and self-loops occur."""
    depth: PositiveInt = 2
    """Depth of the breadth-first search."""
    operations: tuple[Operation, ...] = Field(default=("bfs", "parents"), min_length=1)
    """Operations on each graph: breadth-first search, or parents of a node."""


class GraphwalksConfig(SuiteConfig):
    """The suite `graphwalks`: a breadth-first search, or the parents of a node, on generated or published graphs."""

    graphs_field: ClassVar[str] = "problems"

    name: Literal["graphwalks"] = "graphwalks"
    problems: tuple[ProblemSpec, ...] = (ProblemSpec(count=5),)
    """Problems to generate; by default none if `file` is set."""
    file: ExistingFile | None = None
    """Published problems: a .parquet or .jsonl file of the data set openai/graphwalks."""
    max_chars: PositiveInt | None = None
    """Of a file: only prompts of at most this number of characters."""

    @model_validator(mode="before")
    @classmethod
    def _generate_nothing_beside_a_file(cls, data: Any) -> Any:
        return {"problems": (), **data} if isinstance(data, dict) and data.get("file") is not None else data

    def texts(self) -> Mapping[str, str]:
        return query_texts()
