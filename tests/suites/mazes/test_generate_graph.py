"""A maze as a property graph."""

from math import hypot

from graphwalk.suites.mazes.config import MazeSpec
from graphwalk.suites.mazes.generate import WALL_DISTANCE, Maze, generate_maze, maze_graph


def test_every_cell_is_a_node_and_every_shared_edge_a_relationship() -> None:
    maze = generate_maze(MazeSpec(size=7, min_path=8), 1)
    graph = maze_graph(maze)
    assert (graph.node_count, graph.relationship_count) == (49, 2 * 7 * 6)
    assert list(graph.keys) == [str(cell) for cell in range(49)]
    for link in graph.relationships():
        one, other = int(link.source), int(link.target)
        assert one < other
        assert other - one == 7 or (other - one == 1 and other % 7)


def test_properties() -> None:
    maze = Maze(3, (4,), 0, 8, 4)
    nodes = {int(node.key): node.properties for node in maze_graph(maze).nodes()}
    assert nodes[0] == {"euclidean_distance": round(hypot(2, 2), 4), "marked": False, "mark_order": -1}
    assert nodes[8]["euclidean_distance"] == 0.0
    assert nodes[4]["euclidean_distance"] == WALL_DISTANCE


def test_equal_mazes_have_equal_graphs() -> None:
    one, other = (maze_graph(generate_maze(MazeSpec(), 3, 2)) for _ in range(2))
    assert one.digest == other.digest
