"""Configuration of the suite `magma`."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field

from graphwalk.config.strict import MOST, Spec, Strict, SuiteConfig

Algorithm = Literal["bfs", "dfs", "dijkstra", "floyd_warshall", "mst_prim"]
Split = Literal["train", "validation", "test"]
FirstState = Literal["graphwalk", "paper"]
_MOST_NODES = 2000
"""A trace stores its state after every step; the paper has at most 50 nodes."""
_Nodes = Annotated[int, Field(ge=2, le=_MOST_NODES)]


class MagmaSpec(Spec):
    """Algorithm traces on Erdős–Rényi graphs of `nodes` nodes with edge probability `p`."""

    algorithm: Algorithm = "bfs"
    nodes: _Nodes = 5
    p: float = Field(default=0.5, ge=0, le=1)
    split: Split = "test"


def _as_list(value: object) -> object:
    return value if isinstance(value, list | tuple) else (value,)


class MagmaGrid(Strict):
    """Algorithms × sizes with `count` traces each; a single value may be given without a list."""

    algorithm: Annotated[
        tuple[Algorithm, ...], BeforeValidator(_as_list, json_schema_input_type=Algorithm | tuple[Algorithm, ...])
    ] = ("bfs",)
    """Algorithms."""
    nodes: Annotated[
        tuple[_Nodes, ...], BeforeValidator(_as_list, json_schema_input_type=_Nodes | tuple[_Nodes, ...])
    ] = (5,)
    """Nodes per graph."""
    count: Annotated[int, Field(ge=1, le=MOST)] | None = None
    """Traces per algorithm and size; None: as in the paper (test 125, with five nodes 112; train 1000 and 800)."""
    p: float = Field(default=0.5, ge=0, le=1)
    """Edge probability."""
    split: Split = "test"
    """Split of the traces; splits never share a graph."""

    def specs(self) -> Iterator[MagmaSpec]:
        """Yield the specs, algorithm by algorithm and size by size."""
        small, large = (800, 1000) if self.split == "train" else (112, 125)
        for algorithm in self.algorithm:
            for nodes in self.nodes:
                count = self.count or (small if nodes <= 5 else large)
                yield MagmaSpec(count=count, algorithm=algorithm, nodes=nodes, p=self.p, split=self.split)


class MagmaConfig(SuiteConfig):
    """The suite `magma`: graph algorithms step by step, on the traces of every entry of `traces`."""

    graphs_field: ClassVar[str] = "traces"

    name: Literal["magma"] = "magma"
    traces: tuple[MagmaGrid, ...] = Field(default=(MagmaGrid(),), min_length=1)
    in_store: bool = False
    """Load every graph into the store; required by the setting `tools`."""
    io_steps: bool = False
    """Ask the input–output strategies also for the state after every step, in separate prompts."""
    first_state: FirstState = "graphwalk"
    """First state of a trace: after the first step (graphwalk), or before it (paper): [] in Dijkstra's and Prim's
    algorithm, the weights of all edges in Floyd–Warshall. Searches begin after the first step in both."""
    explain: bool = True
    """Explain in the prompt what one step of the algorithm does and what its state contains."""

    def specs(self) -> tuple[MagmaSpec, ...]:
        """Return the specs of all entries in order."""
        return tuple(spec for grid in self.traces for spec in grid.specs())

    @property
    def graph_count(self) -> int:
        return sum(spec.count for spec in self.specs())
