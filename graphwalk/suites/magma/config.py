"""Which algorithm traces an experiment has."""

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, NonNegativeInt, model_validator

from graphwalk.config.strict import MOST, Spec, Strict, SuiteConfig

Algorithm = Literal["bfs", "dfs", "dijkstra", "floyd_warshall", "mst_prim"]
Split = Literal["train", "validation", "test"]
_MOST_NODES = 2000
"""A trace holds its state after every step; the paper has 50 nodes at most."""
_Nodes = Annotated[int, Field(ge=2, le=_MOST_NODES)]


class MagmaSpec(Spec):
    """Algorithm traces on Erdős–Rényi graphs of `nodes` nodes with edge probability `p`."""

    algorithm: Algorithm = "bfs"
    nodes: _Nodes = 5
    p: float = Field(default=0.5, ge=0, le=1)
    offset: NonNegativeInt = 0
    """Index of the first trace in its split."""
    split: Split = "test"


def _listed(value: object) -> object:
    return value if isinstance(value, list | tuple) else (value,)


class MagmaGrid(Strict):
    """Algorithms × sizes, `count` traces of each; a single algorithm or size may be written without a list."""

    algorithm: Annotated[
        tuple[Algorithm, ...], BeforeValidator(_listed, json_schema_input_type=Algorithm | tuple[Algorithm, ...])
    ] = ("bfs",)
    """Which algorithms."""
    nodes: Annotated[
        tuple[_Nodes, ...], BeforeValidator(_listed, json_schema_input_type=_Nodes | tuple[_Nodes, ...])
    ] = (5,)
    """Nodes of a graph."""
    count: Annotated[int, Field(ge=1, le=MOST)] | None = None
    """None: as many as the paper has (test 125, at five nodes 112; train 1000 and 800)."""
    p: float = Field(default=0.5, ge=0, le=1)
    """Probability of an edge."""
    offset: NonNegativeInt = 0
    """Index of the first trace in its split."""
    split: Split = "test"
    """Which part of the traces; the paper trains on one and asks about another."""

    def specs(self) -> Iterator[MagmaSpec]:
        """Algorithm by algorithm, size by size."""
        for algorithm in self.algorithm:
            for nodes in self.nodes:
                count = self.count or paper_count(self.split, nodes)
                yield MagmaSpec(
                    count=count, algorithm=algorithm, nodes=nodes, p=self.p, offset=self.offset, split=self.split
                )


def paper_count(split: Split, nodes: int) -> int:
    """Traces of a split in the MAGMA paper, which has 1024 of five nodes and 1250 of any other size."""
    if split == "train":
        return 800 if nodes <= 5 else 1000
    return 112 if nodes <= 5 else 125


class MagmaConfig(SuiteConfig):
    """The suite `magma`: graph algorithms step by step, on the traces of every entry of `traces`."""

    name: Literal["magma"] = "magma"
    traces: tuple[MagmaGrid, ...] = Field(default=(MagmaGrid(),), min_length=1)
    free_running: bool = False
    """Keep the model's own answers in the context, instead of one example per step with the correct ones."""
    in_store: bool = False
    """Load every graph into the store, so that the setting `tools` can be played: the model walks it."""
    io_steps: bool = False
    """Ask the input–output strategies for the state after every step as well, each in a prompt of its own."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.free_running and self.io_steps:
            raise ValueError("io_steps asks for every step on its own, free_running in one dialogue: choose one")
        return self

    def specs(self) -> tuple[MagmaSpec, ...]:
        """What is to be made, in order."""
        return tuple(spec for grid in self.traces for spec in grid.specs())
