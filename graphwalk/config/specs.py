"""What can be generated: property graphs, mazes, algorithm traces. Presets are the paper's (spec sections 1 and 7)."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt


class Spec(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    count: PositiveInt = 1
    """How many of this kind."""


class GraphSpec(Spec):
    """Owned by the graph generator."""

    preset: str | None = None


class MazeSpec(Spec):
    """A grid maze: exactly floor(walls · size²) cells are walls, start and goal at least `min_path` steps apart."""

    size: int = Field(default=10, ge=2)
    walls: float = Field(default=0.5, ge=0, lt=1)
    min_path: PositiveInt = 15
    generator: str = "random"


Algorithm = Literal["bfs", "dfs", "dijkstra", "floyd_warshall", "mst_prim"]


class MagmaSpec(Spec):
    """Algorithm traces on Erdős–Rényi graphs of `nodes` nodes with edge probability `p`."""

    algorithm: Algorithm = "bfs"
    nodes: int = Field(default=5, ge=2)
    p: float = Field(default=0.5, ge=0, le=1)
    offset: NonNegativeInt = 0
    """Index of the first trace in its split."""
    split: Literal["train", "validation", "test"] = "test"
