"""The graphs behind MAGMA's traces: undirected Erdős–Rényi graphs, no two alike within a split or across splits.

Across splits: a set of edges belongs to one split for ever, by a hash that knows neither seed nor algorithm. So a
graph of a test split is in no training split, whatever seed either was made with, and whatever weights and source.

Within a split: candidates come in one endless stream that the seed fixes; those of other splits and those seen before
are passed over. Item i is the i-th that remains: it depends on seed, parameters and i, not on how many are asked for.
Up to `ENUMERABLE` nodes the stream runs through all edge sets (and sources) in a random order instead of drawing.
"""

import hashlib
from collections.abc import Iterator
from functools import cache
from itertools import combinations, compress, count, islice
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphwalk.errors import ConfigError
from graphwalk.seeds import generator
from graphwalk.suites.magma.config import MagmaSpec

Bits = NDArray[np.bool_]
"""One entry per pair of nodes in lexicographic order: is it an edge?"""

ENUMERABLE = 5
BLOCK = 512
"""Graphs drawn at a time, fewer of large ones: part of what a seed means."""
BLOCK_PAIRS = 1 << 22
FRUITLESS = 1 << 18
"""After so many candidates in a row without a new one, the split counts as exhausted."""

WEIGHTED = frozenset({"dijkstra", "floyd_warshall", "mst_prim"})
ROOTED = frozenset({"bfs", "dijkstra", "mst_prim"})

_SMALL_SHARE = 112 / 1024
"""Of the 1024 graphs of five nodes the paper holds 112 for validation, 112 for the test, and trains on 800."""


class Instance(NamedTuple):
    """One input of an algorithm: edges in lexicographic order, weights beside them, and a source where it needs one."""

    n: int
    edges: tuple[tuple[int, int], ...]
    weights: tuple[float, ...] | None
    source: int | None


def instances(spec: MagmaSpec, seed: int) -> Iterator[Instance]:
    """Instances `offset` … `offset + count - 1` of the split. ConfigError where the split has fewer."""
    end = spec.offset + spec.count
    found = 0
    for instance in islice(_distinct(spec, seed), end):
        found += 1
        if found > spec.offset:
            yield instance
    if found < end:
        raise ConfigError(
            f"the {spec.split} split has {found} distinct {spec.algorithm} traces of {spec.nodes} nodes"
            f" at p = {spec.p:g}, and {end} are asked for",
            hint="ask for fewer, for more nodes, or for another split",
        )


def split_of(n: int, bits: Bits) -> str:
    """The split that an edge set belongs to: 80:10:10 by hash; exact shares where edge sets are few enough to list."""
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
    for bits, weights, source in _enumerated(spec, seed) if enumerated else _drawn(spec, seed):
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


def _enumerated(spec: MagmaSpec, seed: int) -> Iterator[Candidate]:
    """All edge sets with all sources, likely ones first, and again with other weights, for ever.

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
    """Every edge set on n nodes → its split, in exact shares."""
    ordered = sorted(_edge_sets(n), key=lambda bits: _hash(n, bits))
    held = ceil(len(ordered) * _SMALL_SHARE)
    names = ["test"] * held + ["validation"] * held + ["train"] * len(ordered)
    return {np.packbits(bits).tobytes(): name for bits, name in zip(ordered, names, strict=False)}


def _hash(n: int, bits: Bits) -> int:
    """64 bits that depend on the edge set alone."""
    text = b"magma" + n.to_bytes(4, "big") + np.packbits(bits).tobytes()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")
