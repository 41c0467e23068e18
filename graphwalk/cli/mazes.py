"""`graphwalk generate maze`: mazes as JSON Lines or Parquet."""

from pathlib import Path
from typing import Annotated

import typer

from graphwalk.cli.generate import ROW_FORMATS, write_generated
from graphwalk.errors import ConfigError

_COLUMNS: dict[str, type] = {
    "size": int,
    "walls": str,
    "start": int,
    "goal": int,
    "shortest_path_length": int,
    "seed": int,
    "index": int,
    "digest": str,
}


def generate_maze_command(
    out: Annotated[Path, typer.Option(help="Output file: .jsonl or .parquet.")],
    size: Annotated[int, typer.Option(help="Cells per side.")] = 10,
    walls: Annotated[float, typer.Option(help="Share of cells that are walls.")] = 0.5,
    min_path: Annotated[int, typer.Option(help="Minimum steps from start to goal.")] = 15,
    count: Annotated[int, typer.Option(min=1, help="Number of mazes.")] = 1,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    index: Annotated[int, typer.Option(min=0, help="Index of the first maze for this seed.")] = 0,
) -> None:
    """Generate solvable mazes with an exact number of walls and a minimum path length."""
    from graphwalk.config.yaml_files import validate
    from graphwalk.suites.mazes.config import MazeSpec
    from graphwalk.suites.mazes.generate import generate_maze

    if out.suffix.lower() not in ROW_FORMATS:
        raise ConfigError(f"{out.name}: expected one of {', '.join(ROW_FORMATS)}", hint=f"--out {out.stem}.jsonl")
    fields = {"size": size, "walls": walls, "min_path": min_path}
    # The upper bound of an experiment, which keeps all mazes in memory, does not apply to `count` here.
    spec = validate(MazeSpec, fields, "generate maze")
    mazes = (generate_maze(spec, seed, number) for number in range(index, index + count))
    write_generated((maze.as_json() for maze in mazes), out, _COLUMNS, "maze", count)
