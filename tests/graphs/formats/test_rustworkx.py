"""A graph that comes with another package, in the form that it writes."""

from pathlib import Path

import rustworkx

from graphwalk.graphs.files import load_graph
from graphwalk.suites.questions.generate import tasks_on


async def test_the_karate_club_of_rustworkx_is_read_and_asked_about(tmp_path: Path) -> None:
    club = rustworkx.generators.karate_club_graph()
    path = tmp_path / "club.json"
    rustworkx.node_link_json(
        club,
        path=str(path),
        node_attrs=lambda club: {"club": str(club)},
        edge_attrs=lambda weight: {"weight": str(weight)},
    )
    graph = load_graph(path, undirected="both")
    assert (graph.node_count, graph.relationship_count) == (34, 156)
    assert {node.properties["club"] for node in graph.nodes()} == {"Mr. Hi", "Officer"}
    tasks = await tasks_on(graph, seed=1, questions=["node_by_property", "path_from_specific_node"])
    assert [task.oracles for task in tasks] == [2, 2]
