"""A second opinion on final answers: networkx solves the same instance with code that shares nothing with ours."""

from typing import TYPE_CHECKING, Any

from graphwalk.errors import OracleError
from graphwalk.suites.magma.generator.instances import Instance

if TYPE_CHECKING:
    import networkx as nx


def check_final(algorithm: str, instance: Instance, final: list[Any]) -> None:
    """OracleError where networkx finds another answer; the message holds the instance.

    A minimum spanning tree need not be unique: it must span the component with edges of the graph, at the least weight.
    """
    graph = as_networkx(instance)
    good = _spans(graph, instance, final) if algorithm == "mst_prim" else _solve(graph, algorithm, instance) == final
    if not good:
        raise OracleError(f"networkx does not confirm {algorithm} on {instance}: {final}")


def as_networkx(instance: Instance) -> "nx.Graph[int]":
    """The instance as a networkx graph, all nodes included."""
    import networkx as nx

    graph: nx.Graph[int] = nx.empty_graph(instance.n)
    weights = instance.weights or (1.0,) * len(instance.edges)
    graph.add_weighted_edges_from((i, j, w) for (i, j), w in zip(instance.edges, weights, strict=True))
    return graph


def _solve(graph: "nx.Graph[int]", algorithm: str, instance: Instance) -> list[Any]:
    import networkx as nx

    source = instance.source
    if algorithm == "bfs":
        return sorted(nx.node_connected_component(graph, source))
    if algorithm == "dfs":
        return sorted(sorted(component) for component in nx.connected_components(graph))
    if algorithm == "dijkstra":
        lengths = nx.single_source_dijkstra_path_length(graph, source)
        return [[source, node, lengths[node]] for node in sorted(lengths) if node != source]
    lengths_from = dict(nx.all_pairs_dijkstra_path_length(graph))
    return [
        [i, j, lengths_from[i][j]] for i in range(instance.n) for j in range(i + 1, instance.n) if j in lengths_from[i]
    ]


def _spans(graph: "nx.Graph[int]", instance: Instance, tree: list[list[Any]]) -> bool:
    import networkx as nx

    component = graph.subgraph(nx.node_connected_component(graph, instance.source))
    ours: nx.Graph[int] = nx.Graph()
    ours.add_node(instance.source)
    ours.add_weighted_edges_from(tree)
    least = nx.minimum_spanning_tree(component).size(weight="weight")
    real = all(graph.has_edge(i, j) and graph[i][j]["weight"] == weight for i, j, weight in tree)
    return real and nx.is_tree(ours) and set(ours) == set(component) and ours.size(weight="weight") == least
