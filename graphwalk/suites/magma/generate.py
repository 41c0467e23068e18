"""Run algorithms on random instances and write down every step as a trace."""

import hashlib
import json
from bisect import insort
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import combinations, compress, count, islice, repeat
from math import ceil, inf
from typing import Any, NamedTuple, TypeAlias

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from graphwalk.errors import ConfigError, OracleError
from graphwalk.seeds import generator
from graphwalk.suites.magma.answers import write_answer
from graphwalk.suites.magma.config import Algorithm, FirstState, MagmaSpec
from graphwalk.types.graph import Node, PropertyGraph, Relationship

Graph: TypeAlias = "nx.Graph[int]"
Adjacency = Sequence[Mapping[int, float]]


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


Bits = NDArray[np.bool_]
"""One entry per pair of nodes in lexicographic order: is it an edge?"""

ENUMERABLE = 5
BLOCK = 512
"""Graphs drawn at a time, fewer of large ones: part of what a seed means."""
BLOCK_PAIRS = 1 << 22
FRUITLESS = 1 << 18
"""Number of candidates in a row without a new one after which the split counts as exhausted."""

WEIGHTED = frozenset({"dijkstra", "floyd_warshall", "mst_prim"})
ROOTED = frozenset({"bfs", "dijkstra", "mst_prim"})

_SMALL_SHARE = 112 / 1024
"""Of the 1024 graphs of five nodes the paper holds 112 for validation, 112 for the test, and trains on 800."""


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


def instances(spec: MagmaSpec, seed: int) -> Iterator[Instance]:
    """Yield the first instances of the split. Raise ConfigError if it has fewer."""
    number = 0
    for instance in islice(_distinct(spec, seed), spec.count):
        number += 1
        yield instance
    if number < spec.count:
        raise ConfigError(
            f"the {spec.split} split has {number} distinct {spec.algorithm} traces of {spec.nodes} nodes"
            f" at p = {spec.p:g}, and {spec.count} are asked for",
            hint="ask for fewer, for more nodes, or for another split",
        )


def split_of(n: int, bits: Bits) -> str:
    """Return the split of an edge set: 80:10:10 by hash; exact shares if the edge sets are few enough to list."""
    if n <= ENUMERABLE:
        return _small_splits(n)[np.packbits(bits).tobytes()]
    tenth = _hash(n, bits) * 10 >> 64
    return "train" if tenth < 8 else "validation" if tenth == 8 else "test"


def _distinct(spec: MagmaSpec, seed: int) -> Iterator[Instance]:
    seen: set[int] = set()
    pairs = list(combinations(range(spec.nodes), 2))
    enumerated = spec.nodes <= ENUMERABLE
    patience = 2 * spec.nodes << len(pairs) if enumerated else FRUITLESS
    fruitless = 0
    for bits, weights, source in _enumerate_candidates(spec, seed) if enumerated else _drawn(spec, seed):
        fruitless += 1
        if fruitless > patience:
            return
        if split_of(spec.nodes, bits) != spec.split:
            continue
        instance = Instance(
            spec.nodes,
            tuple(compress(pairs, bits.tolist())),
            tuple(weights[bits].tolist()) if spec.algorithm in WEIGHTED else None,
            source if spec.algorithm in ROOTED else None,
        )
        # 64 bits of each: a million traces would fill gigabytes. Two that share them, and differ, count as one.
        key = int.from_bytes(hashlib.blake2b(repr(instance).encode(), digest_size=8).digest(), "big")
        if key not in seen:
            seen.add(key)
            fruitless = 0
            yield instance


Candidate = tuple[Bits, NDArray[np.float64], int]
"""Edge bits, a weight 1.0 … 10.0 for every pair, a source."""


def _drawn(spec: MagmaSpec, seed: int) -> Iterator[Candidate]:
    n, pairs = spec.nodes, spec.nodes * (spec.nodes - 1) // 2
    rows = max(1, min(BLOCK, BLOCK_PAIRS // pairs))
    for block in count():
        draw = generator(seed, "magma.graphs", n, str(spec.p), block)
        bits = draw.random((rows, pairs)) < spec.p
        weights = draw.integers(1, 11, (rows, pairs)).astype(float)
        yield from zip(bits, weights, draw.integers(n, size=rows).tolist(), strict=True)


def _enumerate_candidates(spec: MagmaSpec, seed: int) -> Iterator[Candidate]:
    """Yield all edge sets with all sources, likely ones first, and again with other weights, without end.

    Sorting by exponential draws divided by the probabilities is sampling without replacement (Efraimidis and
    Spirakis, 2006); at p = 0.5 it is a random permutation.
    """
    n, sets = spec.nodes, _edge_sets(spec.nodes)
    sources = n if spec.algorithm in ROOTED else 1
    edges = sets.sum(axis=1)
    probability = np.repeat(spec.p**edges * (1 - spec.p) ** (sets.shape[1] - edges), sources)
    possible = np.flatnonzero(probability)
    for lap in count():
        draw = generator(seed, "magma.enumeration", n, str(spec.p), sources, lap)
        order = possible[np.argsort(draw.exponential(size=len(possible)) / probability[possible], kind="stable")]
        for item in order.tolist():
            weights = draw.integers(1, 11, sets.shape[1]).astype(float)
            yield sets[item // sources], weights, item % sources


def _edge_sets(n: int) -> Bits:
    pairs = n * (n - 1) // 2
    return (np.arange(1 << pairs)[:, None] >> np.arange(pairs) & 1).astype(bool)


@cache
def _small_splits(n: int) -> dict[bytes, str]:
    """Return every edge set on n nodes → its split, in exact shares."""
    ordered = sorted(_edge_sets(n), key=lambda bits: _hash(n, bits))
    held = ceil(len(ordered) * _SMALL_SHARE)
    names = ["test"] * held + ["validation"] * held + ["train"] * len(ordered)
    return {np.packbits(bits).tobytes(): name for bits, name in zip(ordered, names, strict=False)}


def _hash(n: int, bits: Bits) -> int:
    """Return 64 bits that depend only on the edge set."""
    text = b"magma" + n.to_bytes(4, "big") + np.packbits(bits).tobytes()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")


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


_RUN: dict[Algorithm, Callable[..., Iterator[Step]]] = {
    "bfs": bfs,
    "dfs": dfs,
    "dijkstra": dijkstra,
    "floyd_warshall": floyd_warshall,
    "mst_prim": mst_prim,
}
ALGORITHMS = tuple(_RUN)


@dataclass(frozen=True)
class MagmaTrace:
    """One trace; `index` counts the traces of its split, from 0."""

    algorithm: Algorithm
    instance: Instance
    steps: tuple[Step, ...]
    p: float
    seed: int
    split: str
    index: int
    before: Step | None = None
    """State before the first step, if the trace begins with it."""

    def beginning(self, first_state: FirstState) -> "MagmaTrace":
        """Return the trace with the first state of the configuration."""
        return replace(self, before=state_before(self.algorithm, self.instance)) if first_state == "paper" else self

    @cached_property
    def states(self) -> dict[int, Step]:
        """Return the number of each step → its hint and state. Number 0 is the state before the first step."""
        return ({} if self.before is None else {0: self.before}) | dict(enumerate(self.steps, 1))

    @property
    def trace_id(self) -> str:
        return f"{self.algorithm}-n{self.instance.n}-p{self.p:g}-{self.split}-s{self.seed}-{self.index}"

    @property
    def final(self) -> list[Any]:
        """Return the state after the last step."""
        return self.steps[-1].answer

    @cached_property
    def digest(self) -> str:
        """Return the SHA-256 (hex) of algorithm, edges, weights and source."""
        return hashlib.sha256(json.dumps([self.algorithm, *self.instance]).encode()).hexdigest()

    @cached_property
    def written(self) -> dict[int, str]:
        """Return every state as a model is asked to write it; a prompt repeats all earlier ones."""
        return {number: write_answer(self.algorithm, step.answer) for number, step in self.states.items()}

    def as_json(self) -> dict[str, Any]:
        """Return the record of a data set, in the order of the file."""
        n, edges, weights, source = self.instance
        return {
            "algorithm": self.algorithm,
            "n": n,
            "p": self.p,
            "seed": self.seed,
            "split": self.split,
            "index": self.index,
            "trace_id": self.trace_id,
            "edges": [list(edge) for edge in edges],
            **({} if weights is None else {"weights": list(weights)}),
            **({} if source is None else {"source": source}),
            "steps": [{"hint": step.hint, "answer": step.answer} for step in self.steps],
            "final": self.final,
        }


def make_traces(spec: MagmaSpec, seed: int) -> Iterator[MagmaTrace]:
    """Yield the traces of a spec. Raise OracleError if networkx finds another final state.

    Raise ConfigError if the split has fewer distinct traces than requested.
    """
    for index, instance in enumerate(instances(spec, seed)):
        steps = run_algorithm(spec.algorithm, instance)
        check_states(spec.algorithm, instance, {len(steps): steps[-1].answer})
        yield MagmaTrace(spec.algorithm, instance, steps, spec.p, seed, spec.split, index)


def state_before(algorithm: str, instance: Instance) -> Step | None:
    """Return hint and state before the first step, with which the MAGMA paper begins; None for searches."""
    if algorithm == "floyd_warshall":
        hint = {"pivot": None, "pivots_left": list(range(instance.n))}
        return Step(hint, [list(edge) for edge in instance.weighted_edges])
    if algorithm in ("dijkstra", "mst_prim") and instance.source is not None:
        return Step(queue_hint({instance.source: 0.0}, (), instance.n), [])
    return None


def run_algorithm(algorithm: Algorithm, instance: Instance) -> tuple[Step, ...]:
    adjacency: list[dict[int, float]] = [{} for _ in range(instance.n)]  # neighbours ascend, as the edges do
    for i, j, weight in instance.weighted_edges:
        adjacency[i][j] = adjacency[j][i] = weight
    return tuple(_RUN[algorithm](adjacency) if instance.source is None else _RUN[algorithm](adjacency, instance.source))


NODE, EDGE = "Node", "EDGE"


def stored_graph(trace: MagmaTrace) -> PropertyGraph:
    """Return the graph with a node per number, and a relationship per edge from the lower number to the higher one."""
    n, edges, weights, _ = trace.instance
    nodes = [Node(str(number), (NODE,), {}) for number in range(n)]
    held = [{}] * len(edges) if weights is None else [{"weight": weight} for weight in weights]
    links = [Relationship(EDGE, str(i), str(j), dict(own)) for (i, j), own in zip(edges, held, strict=True)]
    return PropertyGraph.from_rows(nodes, links, seed=trace.seed, spec={"trace": trace.trace_id})
