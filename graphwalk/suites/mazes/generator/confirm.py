"""A maze's target found again by networkx in the graph that was loaded, instead of in the maze it was made from."""

from typing import Any

import networkx as nx

from graphwalk.errors import OracleError
from graphwalk.graphs.networkx_form import to_networkx
from graphwalk.types.graph import PropertyGraph


def check_path(graph: PropertyGraph, start: str, goal: str, path: list[str]) -> None:
    """OracleError where the path does not lead from start to goal over open cells, or a shorter one does."""
    cells: nx.Graph[Any] = nx.Graph(to_networkx(graph))
    cells.remove_nodes_from([key for key, data in cells.nodes(data=True) if data["euclidean_distance"] < 0])
    leads = path[:1] == [start] and path[-1:] == [goal] and nx.is_path(cells, path)
    if not leads or len(path) - 1 != nx.shortest_path_length(cells, start, goal):
        raise OracleError(f"networkx does not confirm the way from {start} to {goal}: {path}")
