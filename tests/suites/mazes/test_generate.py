"""Mazes, checked by networkx's shortest paths."""

from collections import Counter
from unittest.mock import patch

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphwalk.config.strict import validate
from graphwalk.errors import ConfigError
from graphwalk.seeds import stdlib_random
from graphwalk.suites.mazes import generate
from graphwalk.suites.mazes.generate import Maze, MazeSpec, draw_pair, generate_maze


def as_networkx(maze: Maze) -> nx.Graph:
    """Built from nothing but size and walls."""
    grid = nx.grid_2d_graph(maze.size, maze.size)
    grid.remove_nodes_from([divmod(wall, maze.size) for wall in maze.walls])
    return grid


def generate_mazes(spec: MazeSpec, seed: int) -> list[Maze]:
    return [generate_maze(spec, seed, index) for index in range(spec.count)]


def check(maze: Maze, spec: MazeSpec) -> None:
    assert len(set(maze.walls)) == len(maze.walls) == spec.wall_count
    assert list(maze.walls) == sorted(maze.walls)
    assert all(0 <= wall < maze.size**2 for wall in maze.walls)
    assert not {maze.start, maze.goal} & set(maze.walls)
    ends = divmod(maze.start, maze.size), divmod(maze.goal, maze.size)
    assert maze.shortest_path_length == nx.shortest_path_length(as_networkx(maze), *ends) >= spec.min_path


@given(
    size=st.integers(2, 14),
    walls=st.floats(0, 0.9).map(lambda share: round(share, 3)),
    seed=st.integers(0, 2**40),
)
def test_any_parameters(size: int, walls: float, seed: int) -> None:
    try:
        spec = MazeSpec(size=size, walls=walls, min_path=min(size, 6))
        with patch.object(generate, "_CELLS_DRAWN", 20_000):  # a vain search takes seconds
            maze = generate_maze(spec, seed)
    except (ConfigError, ValueError):
        assert walls > 0.3  # nearly empty grids can always host a pair
    else:
        check(maze, spec)


def test_the_wall_ratio_is_taken_as_written() -> None:
    assert MazeSpec(walls=0.29).wall_count == 29
    assert MazeSpec(size=3, walls=1 / 3, min_path=1).wall_count == 2  # 0.3333333333333333 of 9 is less than 3
    assert MazeSpec(size=7, walls=0.5).wall_count == 24


def test_a_maze_depends_on_its_index_and_not_on_those_before_it() -> None:
    series = generate_mazes(MazeSpec(count=5), seed=8)
    assert [generate_maze(MazeSpec(), 8, index) for index in range(5)] == series
    assert len({maze.digest for maze in series}) == 5


def number(cell: tuple[int, int]) -> int:
    """(row, column) → the number of a cell in a grid of six columns."""
    row, column = cell
    return 6 * row + column


@pytest.mark.extended
def test_every_pair_far_enough_apart_is_equally_likely() -> None:
    maze = generate_maze(MazeSpec(size=6, walls=0.4, min_path=7), seed=9)
    far: dict[tuple[int, int], int] = {}
    for start, steps_to in nx.all_pairs_shortest_path_length(as_networkx(maze)):
        for goal, steps in steps_to.items():
            if steps >= 7:
                far[number(start), number(goal)] = steps

    random = stdlib_random(1, "pairs")
    counts: Counter[tuple[int, int]] = Counter()
    for _ in range(200 * len(far)):
        pair = draw_pair(6, maze.walls, 7, random)
        assert pair is not None
        start, goal, steps = pair
        assert far[start, goal] == steps
        counts[start, goal] += 1
    assert counts.keys() == far.keys()
    chi_square = sum((count - 200) ** 2 / 200 for count in counts.values())
    assert chi_square < len(far) + 6 * (2 * len(far)) ** 0.5


def test_the_shortest_path_prefers_low_numbers() -> None:
    maze = Maze(3, (), 0, 8, 4)
    assert maze.shortest_path() == [0, 1, 2, 5, 8]
    for maze_of_series in generate_mazes(MazeSpec(size=8, walls=0.3, min_path=6, count=20), seed=10):
        start, goal = divmod(maze_of_series.start, 8), divmod(maze_of_series.goal, 8)
        paths = []
        for path in nx.all_shortest_paths(as_networkx(maze_of_series), start, goal):
            paths.append([8 * row + column for row, column in path])
        assert maze_of_series.shortest_path() == min(paths)


def test_impossible_mazes_are_errors_before_drawing() -> None:
    with pytest.raises(ConfigError, match=r"min_path 20 is impossible with 3 open cells"):
        validate(MazeSpec, {"size": 5, "walls": 0.9, "min_path": 20}, "generate maze")
