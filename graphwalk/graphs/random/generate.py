"""Random property graphs (docs/method.md, Graphs): drawn in whole arrays, so that millions are quick."""

import numpy as np
from numpy.typing import NDArray

from graphwalk import seeds
from graphwalk.graphs.random.names import WordMaker, node_keys
from graphwalk.graphs.random.sampling import counts_with_mean, distinct_integers
from graphwalk.graphs.random.spec import GraphSpec
from graphwalk.types.graph import MISSING, Column, NodeTable, PropertyGraph, RelationshipTable
from graphwalk.types.values import Value

PARALLEL_SHARE = 0.25
"""Share of relationships that repeat the ends of another one of their type, where parallel ones are allowed."""

Pools = dict[str, tuple[Value, ...]]
"""Property name → the values it can take."""


def generate_graph(spec: GraphSpec, seed: int, index: int = 0) -> PropertyGraph:
    """Graph number `index` of a series; it depends on its spec, the seed and the index alone.

    Names, nodes, relationships and values are drawn separately: with another `missing_rate` the relationships stay.
    Labels and types without nodes or relationships are left out.
    """
    number = spec.offset + index
    words = WordMaker(seeds.generator(seed, "graph-names", number), spec.names, short=spec.short_names)
    labels, types = words.labels(spec.labels), words.relationship_types(spec.relationship_types)
    pools = _draw_pools(seeds.generator(seed, "graph-pools", number), words, spec)
    values = seeds.generator(seed, "graph-values", number)
    members = _draw_members(seeds.generator(seed, "graph-nodes", number), spec)
    links = seeds.generator(seed, "graph-relationships", number)
    node_tables = [
        NodeTable((label,), numbers, _draw_columns(values, pool, len(numbers), spec.missing_rate))
        for label, numbers, pool in zip(labels, members, pools, strict=False)
    ]
    relationship_tables = []
    for type_, pool in zip(types, pools[spec.labels :], strict=True):
        sources, targets = _draw_ends(links, members, spec)
        columns = _draw_columns(values, pool, len(sources), spec.missing_rate)
        relationship_tables.append(RelationshipTable(type_, sources, targets, columns))
    keys = seeds.generator(seed, "graph-keys", number)
    return PropertyGraph(
        node_keys(keys, spec.nodes, spec.names, short=spec.short_names),
        tuple(table for table in node_tables if len(table.numbers)),
        tuple(table for table in relationship_tables if len(table.sources)),
        seed,
        spec.resolved(index),
    )


def _draw_members(rng: np.random.Generator, spec: GraphSpec) -> list[NDArray[np.int64]]:
    """Every node gets a label uniformly at random: per label, its node numbers in ascending order."""
    label_of = rng.integers(0, spec.labels, spec.nodes)
    by_label = np.argsort(label_of, kind="stable")
    return np.split(by_label, np.cumsum(np.bincount(label_of, minlength=spec.labels))[:-1])


def _draw_pools(rng: np.random.Generator, words: WordMaker, spec: GraphSpec) -> list[Pools]:
    """Property names and pools of every label, then of every relationship type; the mean holds for both kinds."""
    counts = [
        *counts_with_mean(rng, spec.properties, spec.labels),
        *counts_with_mean(rng, spec.properties, spec.relationship_types),
    ]
    return [{name: _draw_pool(rng, words, spec.values) for name in words.words(count)} for count in counts]


def _draw_pool(rng: np.random.Generator, words: WordMaker, size: int) -> tuple[Value, ...]:
    """Random words, or numbers below 1000 whose second decimal is not zero, so that all show two."""
    if rng.integers(0, 2):
        return tuple(words.words(size))
    tenths, hundredths = np.divmod(distinct_integers(rng, 90_000, size), 9)
    return tuple(((10 * tenths + hundredths + 1) / 100).tolist())


def _draw_columns(rng: np.random.Generator, pools: Pools, length: int, missing_rate: float) -> dict[str, Column]:
    """Every entity draws each of its properties uniformly from the pool, or lacks it."""
    columns = {}
    for name, pool in pools.items():
        codes = rng.integers(0, len(pool), length, dtype=np.int32)
        if missing_rate:
            codes[rng.random(length) < missing_rate] = MISSING
        columns[name] = Column(codes, pool)
    return columns


def _draw_ends(
    rng: np.random.Generator, members: list[NDArray[np.int64]], spec: GraphSpec
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sources and targets of one relationship type: each allowed ordered pair of nodes is joined independently.

    The allowed pairs are numbered through, label pair by label pair; how many are joined is binomial, and which ones a
    uniform sample of that size, so the pairs themselves are never written out.
    """
    source_label, target_label = np.divmod(distinct_integers(rng, spec.labels**2, spec.pairs), spec.labels)
    sizes = np.array([len(numbers) for numbers in members])
    starts = np.cumsum(sizes) - sizes
    without_self = (source_label == target_label) & (not spec.self_loops)
    width = np.maximum(sizes[target_label] - without_self, 0)
    ends_at = np.cumsum(sizes[source_label] * width)
    cells = _draw_cells(rng, int(ends_at[-1]), spec)

    block = np.searchsorted(ends_at, cells, side="right")
    row, column = np.divmod(cells - (ends_at - sizes[source_label] * width)[block], width[block])
    column += without_self[block] & (column >= row)
    ordered = np.concatenate(members)
    return ordered[starts[source_label[block]] + row], ordered[starts[target_label[block]] + column]


def _draw_cells(rng: np.random.Generator, total: int, spec: GraphSpec) -> NDArray[np.int64]:
    """Which of `total` allowed pairs of nodes are joined; some come again where parallel relationships are allowed."""
    count = int(rng.binomial(total, spec.probability))
    repeats = int(rng.binomial(count, PARALLEL_SHARE)) if spec.parallel_relationships else 0
    repeats = min(repeats, count - 1) if count else 0
    cells = distinct_integers(rng, total, count - repeats)
    if repeats:
        cells = np.sort(np.concatenate([cells, cells[rng.integers(0, len(cells), repeats)]]))
    return cells
