"""Five classical graph algorithms, each a generator that yields its state after every step.

All work on undirected graphs given as an adjacency: `adjacency[i]` maps the neighbours of node i, in ascending order,
to the weight of the joining edge. Every tie goes to the lowest node number. A step carries its hint, the working state
as the step begins with the node it takes, and its answer, the result as far as it is known when the step is done.

The textbook algorithms follow Cormen et al., Introduction to Algorithms, chapters 20 to 23; the choice of algorithms
is that of MAGMA (arXiv 2410.22597), the definition of a step our own (docs/magma.md).
"""

from bisect import insort
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

import numpy as np

Adjacency = Sequence[Mapping[int, float]]


class Step(NamedTuple):
    """One step of an algorithm; both parts are JSON values."""

    hint: dict[str, Any]
    answer: list[Any]


def bfs(adjacency: Adjacency, source: int) -> Iterator[Step]:
    """Breadth-first search. One step dequeues a node; the answer is [node, …], all reached, source included."""
    queue, reached = deque([source]), {source}
    while queue:
        waiting = list(queue)
        node = queue.popleft()
        unvisited = [neighbour for neighbour in adjacency[node] if neighbour not in reached]
        queue.extend(unvisited)
        reached.update(unvisited)
        hint = {"queue": waiting, "dequeued": node, "unvisited_neighbourhood": unvisited}
        yield Step(hint, sorted(reached))


def dfs(adjacency: Adjacency) -> Iterator[Step]:
    """Depth-first search. One step visits a node; the answer is [[node, …], …], the visited part of each component."""
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
    """Dijkstra's shortest paths. One step extracts a node and relaxes its edges.

    The answer is [[source, node, distance], …] for every node reached so far but the source.
    """
    distance, queue, visited = {source: 0.0}, {source: 0.0}, set[int]()
    while queue:
        node, hint = _extract_minimum(queue, visited, len(adjacency))
        for neighbour, weight in adjacency[node].items():
            through = distance[node] + weight
            if neighbour not in visited and through < distance.get(neighbour, inf):
                distance[neighbour] = queue[neighbour] = through
        yield Step(hint, [[source, other, distance[other]] for other in sorted(distance) if other != source])


def floyd_warshall(adjacency: Adjacency) -> Iterator[Step]:
    """Floyd–Warshall. One step is one pivot; the answer is [[i, j, distance], …], i < j, unreachable pairs left out."""
    n = len(adjacency)
    distance = np.full((n, n), inf)
    np.fill_diagonal(distance, 0.0)
    for node, neighbours in enumerate(adjacency):
        distance[node, list(neighbours)] = list(neighbours.values())
    upper = np.triu_indices(n, k=1)
    pairs = list(zip(*(ends.tolist() for ends in upper), strict=True))
    for pivot in range(n):
        distance = np.minimum(distance, distance[:, pivot, None] + distance[None, pivot, :])
        known = zip(pairs, distance[upper].tolist(), strict=True)
        hint = {"pivot": pivot, "pivots_left": list(range(pivot + 1, n))}
        yield Step(hint, [[i, j, d] for (i, j), d in known if d < inf])


def mst_prim(adjacency: Adjacency, source: int) -> Iterator[Step]:
    """Prim's minimum spanning tree of the source's component. One step extracts a node and commits its edge.

    The answer is [[i, j, weight], …], i < j: the tree edges committed so far.
    """
    key, queue, visited = {source: 0.0}, {source: 0.0}, set[int]()
    parent: dict[int, int] = {}
    tree: list[list[Any]] = []
    while queue:
        node, hint = _extract_minimum(queue, visited, len(adjacency))
        if node in parent:
            insort(tree, [min(node, parent[node]), max(node, parent[node]), key[node]])
        for neighbour, weight in adjacency[node].items():
            if neighbour not in visited and weight < key.get(neighbour, inf):
                key[neighbour] = queue[neighbour] = weight
                parent[neighbour] = node
        yield Step(hint, list(tree))


def _extract_minimum(queue: dict[int, float], visited: set[int], n: int) -> tuple[int, dict[str, Any]]:
    """Move the node of smallest (key, number) from the queue to the visited ones; with the hint of the state before."""
    order = sorted(queue.items(), key=lambda entry: (entry[1], entry[0]))
    hint = {
        "priority_queue": [list(entry) for entry in order],
        "unvisited": [node for node in range(n) if node not in visited],
        "visited": sorted(visited),
    }
    node, _ = order[0]
    del queue[node]
    visited.add(node)
    return node, hint
