"""Algorithm traces: an instance, and every state that an algorithm passes through on it."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from graphwalk.suites.magma.answers import write_answer
from graphwalk.suites.magma.config import Algorithm, MagmaSpec
from graphwalk.suites.magma.generator.algorithms import Adjacency, Step, bfs, dfs, dijkstra, floyd_warshall, mst_prim
from graphwalk.suites.magma.generator.check import check_final
from graphwalk.suites.magma.generator.instances import Instance, instances

ALGORITHMS: tuple[Algorithm, ...] = ("bfs", "dfs", "dijkstra", "floyd_warshall", "mst_prim")

_RUN: dict[str, Callable[..., Iterator[Step]]] = {
    "bfs": bfs,
    "dfs": dfs,
    "dijkstra": dijkstra,
    "floyd_warshall": floyd_warshall,
    "mst_prim": mst_prim,
}


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

    @property
    def trace_id(self) -> str:
        return f"{self.algorithm}-n{self.instance.n}-p{self.p:g}-{self.split}-s{self.seed}-{self.index}"

    @property
    def final(self) -> list[Any]:
        """The answer after the last step."""
        return self.steps[-1].answer

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of algorithm, edges, weights and source; seed and index have no part in it."""
        return hashlib.sha256(json.dumps([self.algorithm, *self.instance]).encode()).hexdigest()

    @cached_property
    def written(self) -> tuple[str, ...]:
        """Every state as a model is asked to write it; a prompt repeats all that came before."""
        return tuple(write_answer(self.algorithm, step.answer) for step in self.steps)

    def as_json(self) -> dict[str, Any]:
        """The record of a data set, in the order of the file."""
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


def make_traces(spec: MagmaSpec, seed: int, *, check: bool = True) -> Iterator[MagmaTrace]:
    """The traces of a spec, one by one. `check` compares every final answer with networkx (OracleError).

    ConfigError where the split has fewer distinct traces than asked for.
    """
    yield from traces_of(spec, seed, instances(spec, seed), spec.offset, check=check)


def traces_of(
    spec: MagmaSpec, seed: int, drawn: Iterable[Instance], first: int, *, check: bool = True
) -> Iterator[MagmaTrace]:
    """The traces of instances that were drawn for a spec, `first` being the index of the first of them."""
    for index, instance in enumerate(drawn, start=first):
        steps = run_algorithm(spec.algorithm, instance)
        if check:
            check_final(spec.algorithm, instance, steps[-1].answer)
        yield MagmaTrace(spec.algorithm, instance, steps, spec.p, seed, spec.split, index)


def run_algorithm(algorithm: str, instance: Instance) -> tuple[Step, ...]:
    """All steps of an algorithm on an instance."""
    arguments = (adjacency_of(instance),) if instance.source is None else (adjacency_of(instance), instance.source)
    return tuple(_RUN[algorithm](*arguments))


def adjacency_of(instance: Instance) -> Adjacency:
    """Neighbours in ascending order, since edges come in lexicographic order; weight 1.0 where there are none."""
    adjacency: list[dict[int, float]] = [{} for _ in range(instance.n)]
    weights = instance.weights or (1.0,) * len(instance.edges)
    for (i, j), weight in zip(instance.edges, weights, strict=True):
        adjacency[i][j] = adjacency[j][i] = weight
    return adjacency
