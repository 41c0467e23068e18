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
    """Problems to generate; none if `file` is set."""
    file: ExistingFile | None = None
    """Published problems: a .parquet or .jsonl file of the data set openai/graphwalks."""
    operation: Operation | None = None
    """Of a file: only this operation."""
    max_chars: PositiveInt | None = None
    """Of a file: only prompts of at most this number of characters."""

    @model_validator(mode="before")
    @classmethod
    def _file_or_problems(cls, data: Any) -> Any:
        of_file = ("operation", "max_chars")
        if isinstance(data, dict) and data.get("file") is not None:
            if data.get("problems"):
                raise ValueError("file and problems exclude each other; operation, max_chars and limit choose rows")
            return {**data, "problems": ()}
        if isinstance(data, dict) and (data.get("problems") in ((), []) or any(map(data.get, of_file))):
            raise ValueError("without file, give problems, and no operation or max_chars")
        return data

    def texts(self) -> Mapping[str, str]:
        return query_texts()
