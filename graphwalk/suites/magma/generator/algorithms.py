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
from itertools import combinations
from math import inf
from typing import Any, NamedTuple

import numpy as np

Adjacency = Sequence[Mapping[int, float]]


class Step(NamedTuple):
    """One step of an algorithm; both parts are JSON values, to be read only: steps share what did not change."""

    hint: dict[str, Any]
    answer: list[Any]


class PriorityQueue:
    """Nodes that wait for their extraction, by (key, number); a sorted list, which for small graphs beats a heap."""

    def __init__(self, n: int, source: int) -> None:
        self.key = [inf] * n
        """Of every node; infinite before it is reached, minus infinity once it is extracted: no edge improves it."""
        self.key[source] = 0.0
        self.waiting = [(0.0, source)]
        self.unvisited = list(range(n))
        self.visited: list[int] = []

    def extract_minimum(self) -> tuple[float, int]:
        """(key, node) of the smallest key; ties go to the lowest number."""
        key, node = self.waiting.pop(0)
        self.key[node] = -inf
        self.unvisited.remove(node)
        insort(self.visited, node)
        return key, node

    def decrease_key(self, node: int, key: float) -> None:
        """Give a node a smaller key; a node not yet reached joins the queue."""
        if self.key[node] < inf:
            self.waiting.remove((self.key[node], node))
        self.key[node] = key
        insort(self.waiting, (key, node))

    def hint(self) -> dict[str, Any]:
        """The state of the queue."""
        waiting = [[node, key] for key, node in self.waiting]
        return {"priority_queue": waiting, "unvisited": self.unvisited.copy(), "visited": self.visited.copy()}


def bfs(adjacency: Adjacency, source: int) -> Iterator[Step]:
    """Breadth-first search. One step dequeues a node; the answer is [node, …], all reached, source included."""
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
    queue = PriorityQueue(len(adjacency), source)
    triples: list[list[Any]] = [[] for _ in adjacency]
    while queue.waiting:
        hint = queue.hint()
        distance, node = queue.extract_minimum()
        for neighbour, weight in adjacency[node].items():
            through = distance + weight
            if through < queue.key[neighbour]:
                queue.decrease_key(neighbour, through)
                triples[neighbour] = [source, neighbour, through]
        yield Step(hint, list(filter(None, triples)))


def floyd_warshall(adjacency: Adjacency) -> Iterator[Step]:
    """Floyd–Warshall. One step is one pivot; the answer is [[i, j, distance], …], i < j, unreachable pairs left out."""
    n = len(adjacency)
    distance = np.full((n, n), inf)
    np.fill_diagonal(distance, 0.0)
    triples: dict[tuple[int, int], list[Any]] = {pair: [] for pair in combinations(range(n), 2)}
    for i, neighbours in enumerate(adjacency):
        for j, weight in neighbours.items():
            distance[i, j] = weight
            triples[min(i, j), max(i, j)] = [min(i, j), max(i, j), weight]
    for pivot in range(n):
        through = distance[:, pivot, None] + distance[None, pivot, :]
        for cell in np.flatnonzero(through < distance).tolist():
            i, j = divmod(cell, n)
            if i < j:
                triples[i, j] = [i, j, float(through[i, j])]
        distance = np.minimum(distance, through)
        hint = {"pivot": pivot, "pivots_left": list(range(pivot + 1, n))}
        yield Step(hint, list(filter(None, triples.values())))


def mst_prim(adjacency: Adjacency, source: int) -> Iterator[Step]:
    """Prim's minimum spanning tree of the source's component. One step extracts a node and commits its edge.

    The answer is [[i, j, weight], …], i < j: the tree edges committed so far.
    """
    queue = PriorityQueue(len(adjacency), source)
    parent: dict[int, int] = {}
    tree: list[list[Any]] = []
    while queue.waiting:
        hint = queue.hint()
        key, node = queue.extract_minimum()
        if node in parent:
            insort(tree, [min(node, parent[node]), max(node, parent[node]), key])
        for neighbour, weight in adjacency[node].items():
            if weight < queue.key[neighbour]:
                queue.decrease_key(neighbour, weight)
                parent[neighbour] = node
        yield Step(hint, tree.copy())
