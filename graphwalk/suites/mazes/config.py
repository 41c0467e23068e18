"""Configuration of the suite `mazes`."""

from fractions import Fraction
from math import ceil, floor
from typing import ClassVar, Literal, Self

from pydantic import Field, PositiveInt, model_validator

from graphwalk.config.strict import Spec, SuiteConfig

Layout = Literal["standard", "paper"]


class MazeSpec(Spec):
    """A grid maze: exactly floor(walls · size²) cells are walls, start and goal at least `min_path` steps apart."""

    size: int = Field(default=10, ge=2, le=500)
    """Cells per side."""
    walls: float = Field(default=0.5, ge=0, lt=1)
    """Share of cells that are walls."""
    min_path: PositiveInt = 15
    """Minimum steps from start to goal."""

    @property
    def wall_count(self) -> int:
        """Return the number of walls. The decimal ratio counts: 0.29 of 100 cells are 29, not 28 as in binary."""
        return floor(Fraction(repr(self.walls)) * self.size**2)

    @model_validator(mode="after")
    def _check_possible(self) -> Self:
        open_cells = self.size**2 - self.wall_count
        # A shortest path has at most three cells in each square of 2 × 2, or it could be shorter.
        most = min(open_cells, 3 * ceil(self.size / 2) ** 2) - 1
        if self.min_path > most:
            raise ValueError(
                f"min_path {self.min_path} is impossible: with {open_cells} open cells on a grid of "
                f"{self.size} × {self.size} a shortest path has at most {most} steps; choose a larger size, "
                "fewer walls or a lower min_path"
            )
        return self


class MazesConfig(SuiteConfig):
    """The suite `mazes`. Every entry of `mazes` is generated `count` times."""

    graphs_field: ClassVar[str] = "mazes"

    name: Literal["mazes"] = "mazes"
    mazes: tuple[MazeSpec, ...] = Field(default=(MazeSpec(),), min_length=1)
    layout: Layout = "standard"
    """Drawing of the setting no_tools: standard, or as in the paper (S and G in place of keys, a border around each
    cell)."""
