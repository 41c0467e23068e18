"""Every state of a trace worked out a second time: from its definition, each on its own, with networkx.

The algorithms carry their state from step to step; here a state is found from the order in which nodes are taken alone.
"""

from collections.abc import Sequence
from itertools import combinations
from math import inf, isclose
from typing import TYPE_CHECKING, Any, TypeAlias

from graphwalk.errors import OracleError
from graphwalk.suites.magma.config import MagmaConfig
from graphwalk.suites.magma.generate import Instance, as_networkx
from graphwalk.suites.magma.task import MagmaTask
from graphwalk.suites.suite import GraphInstance, Verification

if TYPE_CHECKING:
    import networkx as nx

    Graph: TypeAlias = nx.Graph[int]


def check_states(algorithm: str, instance: Instance, states: Sequence[list[Any]], steps: Sequence[int]) -> None:
    """Raise OracleError if `states`, those after `steps` (from 1), do not follow the definition of the algorithm.

    Floyd–Warshall's sums may be taken in another order, so that distances are compared to 12 digits.
    """
    graph = as_networkx(instance)
    for step, state in zip(steps, states, strict=True):
        good = (
            _grows_a_tree(graph, instance, state, step)
            if algorithm == "mst_prim"
            else _close(state, _STATES[algorithm](graph, instance, step))
        )
        if not good:
            raise OracleError(f"networkx does not confirm step {step} of {algorithm} on {instance}: {state}")


def _bfs(graph: "Graph", instance: Instance, step: int) -> list[Any]:
    """The source, and all neighbours of the first nodes of breadth-first order."""
    import networkx as nx

    order = [instance.source, *(v for _, v in nx.bfs_edges(graph, instance.source, sort_neighbors=sorted))]
    return sorted({instance.source}.union(*(graph[node] for node in order[:step])))


def _dfs(graph: "Graph", instance: Instance, step: int) -> list[Any]:
    """The first nodes of depth-first order by component; components begin at their lowest nodes."""
    import networkx as nx

    components = sorted(nx.connected_components(graph), key=min)
    orders = [list(nx.dfs_preorder_nodes(graph, min(c), sort_neighbors=sorted)) for c in components]
    taken = set([node for order in orders for node in order][:step])
    return [sorted(taken & set(order)) for order in orders if taken & set(order)]


def _dijkstra(graph: "Graph", instance: Instance, step: int) -> list[Any]:
    """Shortest ways whose last step leaves one of the nodes nearest to the source."""
    import networkx as nx

    far = nx.single_source_dijkstra_path_length(graph, instance.source)
    taken = sorted(far, key=lambda node: (far[node], node))[:step]
    best: dict[int, float] = {}
    for node in taken:
        for beside, edge in graph[node].items():
            best[beside] = min(best.get(beside, inf), far[node] + edge["weight"])
    return [[instance.source, node, best[node]] for node in sorted(best) if node != instance.source]


def _floyd_warshall(graph: "Graph", instance: Instance, step: int) -> list[Any]:
    """Shortest ways that pass through the first nodes only."""
    import networkx as nx

    found = []
    for i, j in combinations(range(instance.n), 2):
        inside = graph.subgraph({*range(step), i, j})
        if nx.has_path(inside, i, j):
            found.append([i, j, nx.dijkstra_path_length(inside, i, j)])
    return found


def _grows_a_tree(graph: "Graph", instance: Instance, state: list[Any], step: int) -> bool:
    """A tree of `step` nodes about the source: each in turn has the lightest edge out; of several the lowest."""
    reached = {instance.source}
    left = {(i, j): weight for i, j, weight in state}
    for _ in range(step - 1):
        out = [(graph[i][j]["weight"], j) for i in reached for j in graph[i] if j not in reached]
        weight, node = min(out, default=(inf, -1))
        chosen = [edge for edge in left if node in edge and reached.intersection(edge)]
        if len(chosen) != 1 or left.pop(chosen[0]) != weight or graph.get_edge_data(*chosen[0]) != {"weight": weight}:
            return False
        reached.add(node)
    return not left


_STATES = {"bfs": _bfs, "dfs": _dfs, "dijkstra": _dijkstra, "floyd_warshall": _floyd_warshall}


def _close(one: Any, other: Any) -> bool:
    """Equal JSON values, but for the last digits of fractions."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_close, one, other))
    return isclose(one, other, rel_tol=1e-12) if isinstance(one, float) or isinstance(other, float) else one == other


class MagmaVerification(Verification[MagmaConfig, MagmaTask]):
    async def confirm(self, task: MagmaTask, instance: GraphInstance, config: MagmaConfig) -> str:
        states, steps = ([task.gold], [task.step]) if task.step else (task.gold, range(1, task.total_steps + 1))
        check_states(task.algorithm, instance.source.instance, states, steps)
        return "networkx"
