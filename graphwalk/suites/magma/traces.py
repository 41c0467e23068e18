"""Draw random instances of a split, and write down every step of an algorithm on them as a trace."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations, compress, count
from math import ceil
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from graphwalk.config.strict import Spec
from graphwalk.errors import ConfigError
from graphwalk.graphs.graph import Node, PropertyGraph, Relationship
from graphwalk.seeds import generator
from graphwalk.suites.magma.algorithms import (
    ROOTED,
    WEIGHTED,
    Algorithm,
    FirstState,
    Instance,
    Step,
    check_states,
    run_algorithm,
)
from graphwalk.suites.magma.answers import write_answer

Split = Literal["train", "validation", "test"]
NODE = "Node"
EDGE = "EDGE"
Nodes = Annotated[int, Field(ge=2, le=100)]
"""Number of nodes; the paper has at most 50."""
Bits = NDArray[np.bool_]
"""One entry per pair of nodes in lexicographic order: is it an edge?"""

ENUMERABLE = 5
BLOCK = 512
"""Graphs drawn at a time: part of what a seed means."""
FRUITLESS = 1 << 18
"""Number of candidates in a row without a new one after which the split counts as exhausted."""
_SMALL_SHARE = 112 / 1024
"""Of the 1024 graphs of five nodes the paper holds 112 for validation, 112 for the test, and trains on 800."""


class MagmaSpec(Spec):
    """Algorithm traces on Erdős–Rényi graphs of `nodes` nodes with edge probability `p`."""

    algorithm: Algorithm = "bfs"
    nodes: Nodes = 5
    p: float = Field(default=0.5, ge=0, le=1)
    split: Split = "test"


def instances(spec: MagmaSpec, seed: int) -> Iterator[Instance]:
    """Yield distinct instances of the split, as many as `spec.count`. Raise ConfigError if it has fewer."""
    seen: set[Instance] = set()
    pairs = list(combinations(range(spec.nodes), 2))
    if spec.nodes <= ENUMERABLE:
        candidates = _enumerate_candidates(spec, seed)
        # Twice all edge sets with all sources
        patience = 2 * spec.nodes * 2 ** len(pairs)
    else:
        candidates = _draw_candidates(spec, seed)
        patience = FRUITLESS
    fruitless = 0
    for bits, all_weights, drawn_source in candidates:
        fruitless += 1
        if fruitless > patience:
            break
        if split_of(spec.nodes, bits) != spec.split:
            continue
        weights = tuple(all_weights[bits].tolist()) if spec.algorithm in WEIGHTED else None
        source = drawn_source if spec.algorithm in ROOTED else None
        instance = Instance(spec.nodes, tuple(compress(pairs, bits.tolist())), weights, source)
        if instance not in seen:
            seen.add(instance)
            fruitless = 0
            yield instance
            if len(seen) == spec.count:
                return
    raise ConfigError(
        f"the {spec.split} split has {len(seen)} distinct {spec.algorithm} traces of {spec.nodes} nodes"
        f" at p = {spec.p:g}, and {spec.count} are asked for",
        hint="ask for fewer, for more nodes, or for another split",
    )


def split_of(n: int, bits: Bits) -> str:
    """Return the split of an edge set: 80:10:10 by hash; exact shares if the edge sets are few enough to list."""
    if n <= ENUMERABLE:
        return _small_splits(n)[np.packbits(bits).tobytes()]
    tenth = _hash(n, bits) * 10 >> 64
    if tenth < 8:
        return "train"
    if tenth == 8:
        return "validation"
    return "test"


Candidate = tuple[Bits, NDArray[np.float64], int]
"""Edge bits, a weight 1.0 … 10.0 for every pair, a source."""


def _draw_candidates(spec: MagmaSpec, seed: int) -> Iterator[Candidate]:
    n = spec.nodes
    pairs = n * (n - 1) // 2
    for block in count():
        draw = generator(seed, "magma.graphs", n, str(spec.p), block)
        bits = draw.random((BLOCK, pairs)) < spec.p
        weights = draw.integers(1, 11, (BLOCK, pairs)).astype(float)
        yield from zip(bits, weights, draw.integers(n, size=BLOCK).tolist(), strict=True)


def _enumerate_candidates(spec: MagmaSpec, seed: int) -> Iterator[Candidate]:
    """Yield all edge sets with all sources, likely ones first, and again with other weights, without end.

    Sorting by exponential draws divided by the probabilities is sampling without replacement (Efraimidis and
    Spirakis, 2006); at p = 0.5 it is a random permutation.
    """
    n = spec.nodes
    sets = _edge_sets(n)
    pairs = sets.shape[1]
    sources = n if spec.algorithm in ROOTED else 1
    edges = sets.sum(axis=1)
    probability_of_set = spec.p**edges * (1 - spec.p) ** (pairs - edges)
    # Item 7 with 5 sources is edge set 1 with source 2.
    probability = np.repeat(probability_of_set, sources)
    possible = np.flatnonzero(probability)
    for lap in count():
        draw = generator(seed, "magma.enumeration", n, str(spec.p), sources, lap)
        waiting_times = draw.exponential(size=len(possible)) / probability[possible]
        order = possible[np.argsort(waiting_times, kind="stable")]
        for item in order.tolist():
            weights = draw.integers(1, 11, pairs).astype(float)
            yield sets[item // sources], weights, item % sources


def _edge_sets(n: int) -> Bits:
    """Return all edge sets, one a row: those of the numbers 0, 1, 2, … in binary, the last digit first."""
    pairs = n * (n - 1) // 2
    numbers = np.arange(2**pairs)[:, None]
    return (numbers >> np.arange(pairs) & 1).astype(bool)


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


@dataclass(frozen=True)
class MagmaTrace:
    """One trace; `index` counts the traces of its split, from 0."""

    algorithm: Algorithm
    instance: Instance
    states: Mapping[int, Step]
    """Number of each step → its hint and state. Number 0 is the state before the first step."""
    p: float
    seed: int
    split: str
    index: int

    @property
    def last(self) -> int:
        """Return the number of the last step."""
        return max(self.states)

    @property
    def trace_id(self) -> str:
        return f"{self.algorithm}-n{self.instance.n}-p{self.p:g}-{self.split}-s{self.seed}-{self.index}"

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
        record: dict[str, Any] = {
            "algorithm": self.algorithm,
            "n": n,
            "p": self.p,
            "seed": self.seed,
            "split": self.split,
            "index": self.index,
            "trace_id": self.trace_id,
            "edges": [list(edge) for edge in edges],
        }
        if weights is not None:
            record["weights"] = list(weights)
        if source is not None:
            record["source"] = source
        record["steps"] = [step._asdict() for number, step in self.states.items() if number > 0]
        record["final"] = self.states[self.last].answer
        return record


def make_traces(spec: MagmaSpec, seed: int, first_state: FirstState = "graphwalk") -> Iterator[MagmaTrace]:
    """Yield the traces of a spec. Raise OracleError if networkx finds another final state.

    Raise ConfigError if the split has fewer distinct traces than requested.
    """
    for index, instance in enumerate(instances(spec, seed)):
        states = run_algorithm(spec.algorithm, instance, first_state)
        trace = MagmaTrace(spec.algorithm, instance, states, spec.p, seed, spec.split, index)
        check_states(spec.algorithm, instance, {trace.last: states[trace.last].answer})
        yield trace


def graph_of_trace(trace: MagmaTrace) -> PropertyGraph:
    """Return the graph with a node per number, and a relationship per edge from the lower number to the higher one."""
    instance = trace.instance
    nodes = [Node(str(number), (NODE,), {}) for number in range(instance.n)]
    relationships = []
    for i, j, weight in instance.weighted_edges:
        properties = {} if instance.weights is None else {"weight": weight}
        relationships.append(Relationship(EDGE, str(i), str(j), properties))
    return PropertyGraph.from_rows(nodes, relationships, seed=trace.seed, spec={"trace": trace.trace_id})
