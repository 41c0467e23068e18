"""The five algorithms, step by step, and the check of their states by networkx (docs/method.md, MAGMA)."""

from bisect import insort
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import combinations
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
        weights = self.weights
        if weights is None:
            weights = (1.0,) * len(self.edges)
        for (i, j), weight in zip(self.edges, weights, strict=True):
            yield i, j, weight


class Step(NamedTuple):
    """One step of an algorithm. Both parts are read-only JSON values, because steps share unchanged parts."""

    hint: dict[str, Any]
    answer: list[Any]


def queue_hint(keys: Mapping[int, float], visited: Collection[int], n: int) -> dict[str, Any]:
    """Return the state of a priority queue with the keys of the reached nodes."""
    waiting = sorted(keys, key=lambda node: (keys[node], node))
    return {
        "priority_queue": [[node, keys[node]] for node in waiting],
        "unvisited": [node for node in range(n) if node not in visited],
        "visited": sorted(visited),
    }


def best_first(
    adjacency: Adjacency, source: int, key_of: Callable[[float, float], float]
) -> Iterator[tuple[int, float, dict[str, Any], dict[int, float]]]:
    """Yield the node with the smallest key, ties by number, until no reached node waits.

    With each come its key, the queue before, and the decreased keys of its neighbours. `key_of` gives a neighbour's key
    from that of the node and the weight of the edge.
    """
    keys = {source: 0.0}
    visited: set[int] = set()
    while keys:
        hint = queue_hint(keys, visited, len(adjacency))
        node, key = hint["priority_queue"][0]
        del keys[node]
        visited.add(node)
        decreased: dict[int, float] = {}
        for neighbour, weight in adjacency[node].items():
            new_key = key_of(key, weight)
            if neighbour not in visited and new_key < keys.get(neighbour, inf):
                decreased[neighbour] = new_key
        keys.update(decreased)
        yield node, key, hint, decreased


def bfs(adjacency: Adjacency, source: int) -> Iterator[Step]:
    """Yield the steps of breadth-first search. One dequeues a node; the answer is [node, …], all reached ones."""
    queue = deque([source])
    reached = {source}
    answer = [source]
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
    distance = [[inf] * n for _ in range(n)]
    for i in range(n):
        distance[i][i] = 0.0
        for j, weight in adjacency[i].items():
            distance[i][j] = weight
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
            i, j = sorted((node, parents[node]))
            insort(tree, [i, j, weight])
        for neighbour in decreased:
            parents[neighbour] = node
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
    # Neighbours ascend, as the edges do.
    adjacency: list[dict[int, float]] = [{} for _ in range(instance.n)]
    for i, j, weight in instance.weighted_edges:
        adjacency[i][j] = weight
        adjacency[j][i] = weight

    steps: dict[int, Step] = {}
    if first_state == "paper" and algorithm in WEIGHTED:
        steps[0] = _state_before(algorithm, instance)
    run = _RUN[algorithm]
    all_steps = run(adjacency, instance.source) if algorithm in ROOTED else run(adjacency)
    steps.update(enumerate(all_steps, 1))
    return steps


def _state_before(algorithm: Algorithm, instance: Instance) -> Step:
    """Return the state before the first step: the weights of all edges, or nothing but the source in the queue."""
    if algorithm == "floyd_warshall":
        hint = {"pivot": None, "pivots_left": list(range(instance.n))}
        return Step(hint, [list(edge) for edge in instance.weighted_edges])
    assert instance.source is not None
    return Step(queue_hint({instance.source: 0.0}, (), instance.n), [])


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
    order = [instance.source]
    order.extend(node for _, node in nx.bfs_edges(graph, instance.source, sort_neighbors=sorted))
    reached = {instance.source}
    for node in order[:step]:
        reached.update(graph[node])
    return sorted(reached)


def _dfs_state(graph: Graph, instance: Instance, step: int) -> list[Any]:
    """Return the first nodes of depth-first order by component; components begin at their lowest nodes."""
    state: list[list[int]] = []
    steps_left = step
    for root in sorted(min(component) for component in nx.connected_components(graph)):
        order = list(nx.dfs_preorder_nodes(graph, root, sort_neighbors=sorted))
        visited = order[:steps_left]
        steps_left -= len(visited)
        if visited:
            state.append(sorted(visited))
    return state


def _dijkstra_state(graph: Graph, instance: Instance, step: int) -> list[Any]:
    """Return the lengths of shortest paths whose last edge leaves one of the nodes nearest to the source."""
    distances = nx.single_source_dijkstra_path_length(graph, instance.source)
    nearest = sorted(distances, key=lambda node: (distances[node], node))[:step]
    best: dict[int, float] = {}
    for node in nearest:
        for neighbour, edge in graph[node].items():
            best[neighbour] = min(best.get(neighbour, inf), distances[node] + edge["weight"])
    return [[instance.source, node, best[node]] for node in sorted(best) if node != instance.source]


def _floyd_warshall_state(graph: Graph, instance: Instance, step: int) -> list[Any]:
    """Return the lengths of shortest paths whose inner nodes are the first `step` ones."""
    state: list[list[Any]] = []
    for start in range(instance.n):

        def weight(source: int, target: int, edge: Mapping[str, float], start: int = start) -> float | None:
            # None hides an edge: no path continues from other nodes than the start and the first ones.
            return edge["weight"] if source < step or source == start else None

        lengths = nx.single_source_dijkstra_path_length(graph, start, weight=weight)
        state.extend([start, end, lengths[end]] for end in range(start + 1, instance.n) if end in lengths)
    return state


def _grows_a_tree(graph: Graph, instance: Instance, state: list[Any], step: int) -> bool:
    """Check a tree of `step` nodes around the source: each in turn has the lightest edge out, ties to the lowest."""
    reached = {instance.source}
    edges = {(i, j): weight for i, j, weight in state}
    for _ in range(step - 1):
        leaving = []
        for _, node, edge in graph.edges(reached, data=True):
            if node not in reached:
                leaving.append((edge["weight"], node))
        if not leaving:
            return False
        weight, new = min(leaving)

        # By which of several edges of this weight it is joined is left open.
        joining = [ends for ends in edges if new in ends and reached.intersection(ends)]
        if len(joining) != 1:
            return False
        (ends,) = joining
        if edges.pop(ends) != weight or graph.get_edge_data(*ends) != {"weight": weight}:
            return False
        reached.add(new)
    # No edge is left that joins nothing.
    return not edges


_DEFINITIONS = {
    "bfs": _bfs_state,
    "dfs": _dfs_state,
    "dijkstra": _dijkstra_state,
    "floyd_warshall": _floyd_warshall_state,
}
