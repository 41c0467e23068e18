"""The five algorithms, step by step, and the check of their states by networkx (docs/method.md, MAGMA)."""

from bisect import insort
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import combinations, repeat
from math import inf
from typing import Any, Literal, NamedTuple, TypeAlias

import networkx as nx

from graphwalk.errors import OracleError

Algorithm = Literal["bfs", "dfs", "dijkstra", "floyd_warshall", "mst_prim"]
FirstState = Literal["graphwalk", "paper"]
Graph: TypeAlias = "nx.Graph[int]"
Adjacency = Sequence[Mapping[int, float]]
WEIGHTED = frozenset({"dijkstra", "floyd_warshall", "mst_prim"})
ROOTED = frozenset({"bfs", "dijkstra", "mst_prim"})


class Instance(NamedTuple):
    """Input of an algorithm: edges in lexicographic order, their weights, and a source; None if not needed."""

    n: int
    edges: tuple[tuple[int, int], ...]
    weights: tuple[float, ...] | None
    source: int | None

    @property
    def weighted_edges(self) -> Iterator[tuple[int, int, float]]:
        """Yield (i, j, weight); 1.0 if the instance has no weights."""
        return ((i, j, weight) for (i, j), weight in zip(self.edges, self.weights or repeat(1.0)))  # noqa: B905


class Step(NamedTuple):
    """One step of an algorithm. Both parts are read-only JSON values, because steps share unchanged parts."""

    hint: dict[str, Any]
    answer: list[Any]


def queue_hint(keys: Mapping[int, float], visited: Collection[int], n: int) -> dict[str, Any]:
    """Return the state of a priority queue with the keys of the reached nodes."""
    waiting = sorted((key, node) for node, key in keys.items())
    unvisited = [node for node in range(n) if node not in visited]
    return {
        "priority_queue": [[node, key] for key, node in waiting],
        "unvisited": unvisited,
        "visited": sorted(visited),
    }


def best_first(
    adjacency: Adjacency, source: int, key_of: Callable[[float, float], float]
) -> Iterator[tuple[int, float, dict[str, Any], dict[int, float]]]:
    """Yield the node with the smallest key, ties by number, until no reached node waits.

    With each come its key, the queue before, and the decreased keys of its neighbours. `key_of` gives a neighbour's key
    from that of the node and the weight of the edge.
    """
    keys, visited = {source: 0.0}, set[int]()
    while keys:
        hint = queue_hint(keys, visited, len(adjacency))
        node, key = hint["priority_queue"][0]
        del keys[node]
        visited.add(node)
        reached = {other: key_of(key, weight) for other, weight in adjacency[node].items() if other not in visited}
        decreased = {other: new for other, new in reached.items() if new < keys.get(other, inf)}
        keys |= decreased
        yield node, key, hint, decreased


def bfs(adjacency: Adjacency, source: int) -> Iterator[Step]:
    """Yield the steps of breadth-first search. One dequeues a node; the answer is [node, …], all reached ones."""
    queue, reached, answer = deque([source]), {source}, [source]
    while queue:
        waiting = list(queue)
        node = queue.popleft()
        unvisited = [neighbour for neighbour in adjacency[node] if neighbour not in reached]
        if unvisited:
            queue.extend(unvisited)
            reached.update(unvisited)
            answer = sorted(reached)
        hint = {"queue": waiting, "dequeued": node, "unvisited_neighbourhood": unvisited}
        yield Step(hint, answer)


def dfs(adjacency: Adjacency) -> Iterator[Step]:
    """Yield the steps of depth-first search. One visits a node; the answer has the visited part of each component."""
    components: list[list[int]] = []
    visited: set[int] = set()
    for root in range(len(adjacency)):
        if root in visited:
            continue
        components.append([])
        stack = [root]
        while stack:
            node = stack[-1]
            if node not in visited:
                visited.add(node)
                insort(components[-1], node)
                hint = {"stack": list(stack), "visited": node, "neighbourhood": list(adjacency[node])}
                yield Step(hint, [list(component) for component in components])
            unvisited = (neighbour for neighbour in adjacency[node] if neighbour not in visited)
            child = next(unvisited, None)
            if child is None:
                stack.pop()
            else:
                stack.append(child)


def dijkstra(adjacency: Adjacency, source: int) -> Iterator[Step]:
    """Yield the steps of Dijkstra's algorithm. One extracts a node and relaxes its edges.

    The answer is [[source, node, distance], …] for every node reached so far but the source.
    """
    distances: dict[int, float] = {}
    for _, _, hint, decreased in best_first(adjacency, source, lambda distance, weight: distance + weight):
        distances |= decreased
        yield Step(hint, [[source, node, distances[node]] for node in sorted(distances)])


def floyd_warshall(adjacency: Adjacency) -> Iterator[Step]:
    """Yield the steps of Floyd–Warshall, one per pivot. The answer is [[i, j, distance], …], i < j, if connected."""
    n = len(adjacency)
    pairs = list(combinations(range(n), 2))
    distance = [[0.0 if i == j else adjacency[i].get(j, inf) for j in range(n)] for i in range(n)]
    triples = {(i, j): [i, j, distance[i][j]] for i, j in pairs if j in adjacency[i]}
    for pivot in range(n):
        for i, j in pairs:
            through = distance[i][pivot] + distance[pivot][j]
            if through < distance[i][j]:
                distance[i][j] = distance[j][i] = through
                triples[i, j] = [i, j, through]
        hint = {"pivot": pivot, "pivots_left": list(range(pivot + 1, n))}
        yield Step(hint, [triples[pair] for pair in pairs if pair in triples])


def mst_prim(adjacency: Adjacency, source: int) -> Iterator[Step]:
    """Yield the steps of Prim's algorithm in the source's component. One extracts a node and commits its edge.

    The answer is [[i, j, weight], …], i < j: the tree edges committed so far.
    """
    parents: dict[int, int] = {}
    tree: list[list[Any]] = []
    for node, weight, hint, decreased in best_first(adjacency, source, lambda _, weight: weight):
        if node in parents:
            insort(tree, [min(node, parents[node]), max(node, parents[node]), weight])
        parents |= dict.fromkeys(decreased, node)
        yield Step(hint, tree.copy())


_RUN: dict[Algorithm, Callable[..., Iterator[Step]]] = {
    "bfs": bfs,
    "dfs": dfs,
    "dijkstra": dijkstra,
    "floyd_warshall": floyd_warshall,
    "mst_prim": mst_prim,
}
ALGORITHMS = tuple(_RUN)


def run_algorithm(algorithm: Algorithm, instance: Instance, first_state: FirstState = "graphwalk") -> dict[int, Step]:
    """Return the steps by number, from 1 on.

    With the first state of the MAGMA paper, number 0 is the state before the first step; searches have none.
    """
    adjacency: list[dict[int, float]] = [{} for _ in range(instance.n)]  # neighbours ascend, as the edges do
    for i, j, weight in instance.weighted_edges:
        adjacency[i][j] = adjacency[j][i] = weight
    source = () if instance.source is None else (instance.source,)
    steps = dict(enumerate(_RUN[algorithm](adjacency, *source), 1))
    if first_state == "graphwalk" or algorithm not in WEIGHTED:
        return steps
    if algorithm == "floyd_warshall":
        hint = {"pivot": None, "pivots_left": list(range(instance.n))}
        return {0: Step(hint, [list(edge) for edge in instance.weighted_edges]), **steps}
    return {0: Step(queue_hint(dict.fromkeys(source, 0.0), (), instance.n), []), **steps}


def check_states(algorithm: str, instance: Instance, states: Mapping[int, list[Any]]) -> None:
    """Find states again from their definitions with networkx. Raise OracleError with the instance if one differs.

    `states` has step (from 1) → state. Weights are whole numbers, so that sums are exact in any order.
    """
    graph: Graph = nx.empty_graph(instance.n)
    graph.add_weighted_edges_from(instance.weighted_edges)
    for step, state in states.items():
        if algorithm == "mst_prim":
            good = _grows_a_tree(graph, instance, state, step)
        else:
            good = state == _DEFINITIONS[algorithm](graph, instance, step)
        if not good:
            raise OracleError(f"networkx does not confirm step {step} of {algorithm} on {instance}: {state}")


def _bfs_state(graph: Graph, instance: Instance, step: int) -> list[Any]:
    """Return the source and all neighbours of the first nodes of breadth-first order."""
    order = [instance.source, *(v for _, v in nx.bfs_edges(graph, instance.source, sort_neighbors=sorted))]
    return sorted({instance.source}.union(*(graph[node] for node in order[:step])))


def _dfs_state(graph: Graph, instance: Instance, step: int) -> list[Any]:
    """Return the first nodes of depth-first order by component; components begin at their lowest nodes."""
    components = sorted(nx.connected_components(graph), key=min)
    orders = [list(nx.dfs_preorder_nodes(graph, min(c), sort_neighbors=sorted)) for c in components]
    taken = set([node for order in orders for node in order][:step])
    return [sorted(taken & set(order)) for order in orders if taken & set(order)]


def _dijkstra_state(graph: Graph, instance: Instance, step: int) -> list[Any]:
    """Return the lengths of shortest paths whose last edge leaves one of the nodes nearest to the source."""
    far = nx.single_source_dijkstra_path_length(graph, instance.source)
    taken = sorted(far, key=lambda node: (far[node], node))[:step]
    best: dict[int, float] = {}
    for node in taken:
        for beside, edge in graph[node].items():
            best[beside] = min(best.get(beside, inf), far[node] + edge["weight"])
    return [[instance.source, node, best[node]] for node in sorted(best) if node != instance.source]


def _floyd_warshall_state(graph: Graph, instance: Instance, step: int) -> list[Any]:
    """Return the lengths of shortest paths whose inner nodes are the first `step` ones."""
    state = []
    for i in range(instance.n):
        # None hides an edge: no path continues from other nodes than the start and the first ones.
        lengths = nx.single_source_dijkstra_path_length(
            graph, i, weight=lambda one, other, edge, i=i: edge["weight"] if one < step or one == i else None
        )
        state += [[i, j, lengths[j]] for j in range(i + 1, instance.n) if j in lengths]
    return state


def _grows_a_tree(graph: Graph, instance: Instance, state: list[Any], step: int) -> bool:
    """Check a tree of `step` nodes around the source: each in turn has the lightest edge out, ties to the lowest."""
    reached = {instance.source}
    edges = {(i, j): weight for i, j, weight in state}
    for _ in range(step - 1):
        out = [(graph[i][j]["weight"], j) for i in reached for j in graph[i] if j not in reached]
        weight, node = min(out, default=(inf, -1))
        chosen = [edge for edge in edges if node in edge and reached.intersection(edge)]
        if len(chosen) != 1 or edges.pop(chosen[0]) != weight or graph.get_edge_data(*chosen[0]) != {"weight": weight}:
            return False
        reached.add(node)
    return not edges


_DEFINITIONS = {
    "bfs": _bfs_state,
    "dfs": _dfs_state,
    "dijkstra": _dijkstra_state,
    "floyd_warshall": _floyd_warshall_state,
}
