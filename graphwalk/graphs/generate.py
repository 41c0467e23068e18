"""Draw random property graphs with meaningless names; the same seed gives the same graph everywhere."""

import gzip
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeInt, model_validator

import graphwalk.seeds as seeds
from graphwalk.config.strict import Spec
from graphwalk.errors import ConfigError
from graphwalk.graphs.graph import MISSING, NodeTable, PropertyColumn, PropertyGraph, RelationshipTable
from graphwalk.graphs.values import Value


def distinct_integers(rng: np.random.Generator, total: int, count: int) -> NDArray[np.int64]:
    """Return `count` distinct integers from 0 … total-1, every set equally likely, ascending. Memory O(count)."""
    if count == 0:
        return np.empty(0, dtype=np.int64)
    if count > total // 2:
        mask = np.ones(total, dtype=bool)
        mask[distinct_integers(rng, total, total - count)] = False
        return np.flatnonzero(mask).astype(np.int64)
    drawn = np.empty(0, dtype=np.int64)
    while True:
        drawn = np.concatenate([drawn, rng.integers(0, total, count + count // 8 + 8)])
        values, first = np.unique(drawn, return_index=True)
        if len(values) >= count:
            # The first `count` distinct ones in the order of drawing: the smallest would not be a fair sample.
            return np.sort(values[np.argsort(first)[:count]])


_VOWELS = np.frombuffer(b"aeiou", dtype=np.uint8)
_CONSONANTS = np.frombuffer(b"bcdfghjkmnpqrstvwxyz", dtype=np.uint8)
"""Without l, which looks like 1."""
_DIGITS = np.frombuffer(b"0123456789", dtype=np.uint8)
_LETTERS = (4, 8)
"""The least and the most letters of a word, as in the paper."""
_SHORT_LETTERS = (3, 3)
_KEY_SPARSITY = 20
"""One in this many possible keys exists at most: an invented key hardly ever does."""
_SHORT_KEY_SPARSITY = 2
"""The same of short keys, of which an invented one may exist."""
_MOST_DRAWS = 2_000
"""Draws of words after which there are none left; there are about 1,700 short ones."""


@cache
def real_words() -> frozenset[str]:
    """Return words that mean something in Cypher, and English words of 3 to 8 letters; lower case."""
    folder = Path(__file__).parent
    words = set((folder / "cypher_words.txt").read_text(encoding="ascii").split())
    with gzip.open(folder / "english.txt.gz", "rt", encoding="ascii") as file:  # source: english.NOTICE.txt
        words.update(file.read().split())
    return frozenset(words)


NamePool = Literal["any", "train", "held_out"]
"""Which names a graph may have: all there are, or one of two parts that share none."""
_HELD_OUT = 5
"""One word in this many is held out."""


def pool_of(name: str) -> NamePool:
    """Return the pool of a name, ignoring case: from its digest, so that it is the same everywhere."""
    digest = hashlib.sha256(name.lower().encode()).digest()
    return "held_out" if digest[0] % _HELD_OUT == 0 else "train"


class WordMaker:
    """Makes words of 4 to 8 letters, short ones of 3, consonants and vowels in turn; no two differ only in case."""

    def __init__(
        self, rng: np.random.Generator, pool: NamePool = "any", *, short: bool = False, taken: Iterable[str] = ()
    ) -> None:
        """`taken`: words that it never makes."""
        self._rng = rng
        self._pool = pool
        self._shortest, self._longest = _SHORT_LETTERS if short else _LETTERS
        self._taken = set(taken)

    def words(self, count: int) -> list[str]:
        """Return `count` new words in lower case. Raise ConfigError if there are not so many."""
        words: list[str] = []
        for _ in range(_MOST_DRAWS):
            if len(words) == count:
                return words
            for word in self._draw(count - len(words)):
                if word in self._taken or word in real_words():
                    continue
                self._taken.add(word)
                if self._pool == "any" or self._pool == pool_of(word):
                    words.append(word)
        hint = "give fewer properties, values or classes, or leave out short_names"
        raise ConfigError("the graph needs more words than there are", hint=hint)

    def _draw(self, count: int) -> list[str]:
        # All arrays have a row for each word and a column for each place of its longest form.
        vowel_first = self._rng.integers(0, 2, (count, 1))
        places = np.arange(self._longest)
        is_vowel = (places + vowel_first) % 2 == 1
        vowels = _VOWELS[self._rng.integers(0, len(_VOWELS), (count, self._longest))]
        consonants = _CONSONANTS[self._rng.integers(0, len(_CONSONANTS), (count, self._longest))]
        lengths = self._rng.integers(self._shortest, self._longest + 1, (count, 1))
        letters = np.where(is_vowel, vowels, consonants)
        return _texts(np.where(places < lengths, letters, 0).astype(np.uint8))


def node_keys(rng: np.random.Generator, count: int, pool: NamePool = "any", *, short: bool = False) -> list[str]:
    """Return `count` distinct keys like "k7q2": letters and digits alternate, so none is a word or a number.

    Short ones are as "k7" for up to 100 nodes, where no pool is asked for.
    """
    if pool != "any":
        # Twice as many as are needed of the smaller part, and some for graphs of a few nodes.
        drawn = node_keys(rng, 2 * _HELD_OUT * count + 10 * _HELD_OUT, short=short)
        return [key for key in drawn if pool_of(key) == pool][:count]
    # A pair is a letter and a digit, as "k7". A key is a number whose digits, to the base of all pairs, are its pairs.
    base = len(_CONSONANTS) * len(_DIGITS)
    pairs = 1 if short else 2
    sparsity = _SHORT_KEY_SPARSITY if short else _KEY_SPARSITY
    while base**pairs < sparsity * count:
        pairs += 1
    codes = rng.permutation(distinct_integers(rng, base**pairs, count))
    letters = np.empty((count, 2 * pairs), dtype=np.uint8)
    for position in range(pairs):
        codes, code = np.divmod(codes, base)
        letters[:, 2 * position] = _CONSONANTS[code // len(_DIGITS)]
        letters[:, 2 * position + 1] = _DIGITS[code % len(_DIGITS)]
    return _texts(letters)


def _texts(letters: NDArray[np.uint8]) -> list[str]:
    """Return rows of ASCII codes (n × length, padded with zeros) as strings."""
    texts: list[str] = letters.view(f"S{letters.shape[1]}").ravel().astype(str).tolist()
    return texts


Preset = Literal["paper-100", "paper-150", "paper-200", "paper-500"]
GRAPH_PRESETS: dict[str, dict[str, Any]] = {
    # Densities give a mean out-degree of 3 (2.97 to 2.99).
    "paper-100": {"nodes": 100, "labels": 4, "relationship_types": 2, "properties": 3, "values": 5, "density": 0.03},
    "paper-150": {"nodes": 150, "labels": 8, "relationship_types": 4, "properties": 6, "values": 10, "density": 0.01},
    "paper-200": {"nodes": 200, "labels": 8, "relationship_types": 4, "properties": 6, "values": 10, "density": 0.0075},
    "paper-500": {"nodes": 500, "labels": 8, "relationship_types": 4, "properties": 6, "values": 10, "density": 0.003},
}
"""The graphs of the paper; the density is ours, the paper gives none (docs/method.md, Graphs)."""

_DEFAULT_MEAN_DEGREE = 3.0
_MAX_NODES = 50_000_000
_MAX_RELATIONSHIPS = 200_000_000


class GraphSpec(Spec):
    """A random property graph. A preset fills what is not given; without one the defaults are close to paper-100.

    `density` is the probability that a relationship type joins an ordered pair of nodes whose labels it spans;
    `mean_degree`, the mean number of outgoing relationships of a node, may be given in its place.
    """

    preset: Preset | None = None
    """A graph of the paper."""
    nodes: int = Field(default=100, ge=2, le=_MAX_NODES)
    """Number of nodes."""
    labels: int = Field(default=4, ge=1, le=1000)
    """Number of node classes."""
    relationship_types: int = Field(default=2, ge=1, le=1000)
    """Number of relationship classes."""
    properties: float = Field(default=3.0, ge=1, le=100)
    """Mean number of properties of a class."""
    values: int = Field(default=5, ge=1, le=10_000)
    """Size of the pool that a property draws its values from."""
    density: float | None = Field(default=None, gt=0, le=1)
    """Probability that a type joins an ordered pair of nodes whose labels it spans."""
    mean_degree: float | None = Field(default=None, gt=0)
    """Mean number of outgoing relationships of a node, in place of `density`."""
    pair_fraction: float = Field(default=0.5, gt=0, le=1)
    """Share of all ordered pairs of labels that a relationship type spans; at least one pair."""
    hops: int = Field(default=3, ge=2, le=3)
    """Longest walk that a question asks for; a remote node is at least two steps away."""
    missing_rate: float = Field(default=0.0, ge=0, lt=1)
    """Share of properties left out at random."""
    self_loops: bool = False
    """A relationship may lead from a node to itself."""
    parallel_relationships: bool = False
    """Several relationships of one type may join the same ordered pair of nodes."""
    names: NamePool = Field(default="any", exclude_if=lambda pool: pool == "any")
    """Names, keys and values that are words: all there are, or those of one of two parts that share none."""
    short_names: bool = Field(default=False, exclude_if=lambda short: not short)
    """Names and values that are words have 3 letters, keys of up to 100 nodes are like k7: fewer tokens."""
    offset: NonNegativeInt = 0
    """Index of the first graph; with a seed it makes every graph of a series on its own."""

    @model_validator(mode="before")
    @classmethod
    def _fill_from_preset(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        # `nodes: null` is as no nodes; an unknown name stays, to be refused.
        fields = {name: value for name, value in data.items() if value is not None or name not in cls.model_fields}
        preset = dict(GRAPH_PRESETS.get(str(fields.get("preset")), {}))
        if "mean_degree" in fields:
            preset.pop("density", None)
        return preset | fields

    @model_validator(mode="after")
    def _check_possible(self) -> Self:
        if self.labels > self.nodes:
            raise ValueError(f"{self.labels} labels need at least {self.labels} nodes, not {self.nodes}")
        if self.density is not None and self.mean_degree is not None:
            raise ValueError("give density or mean_degree, not both")
        if self.mean_degree is not None and self.mean_degree > self._full_degree:
            raise ValueError(
                f"mean_degree {self.mean_degree:g} is impossible: with every allowed pair of nodes joined it is "
                f"{self._full_degree:g}; give more nodes, relationship_types or pair_fraction"
            )
        expected = self.probability * self._full_degree * self.nodes
        if expected > _MAX_RELATIONSHIPS:
            raise ValueError(
                f"the graph would have about {expected:,.0f} relationships, the limit is {_MAX_RELATIONSHIPS:,}; "
                "give a lower density or mean_degree"
            )
        return self

    @property
    def pairs(self) -> int:
        """Return the number of ordered label pairs that each relationship type spans."""
        return max(1, round(self.pair_fraction * self.labels**2))

    @property
    def probability(self) -> float:
        """Return the density, computed from `mean_degree` if that was given."""
        if self.density is not None:
            return self.density
        mean_degree = self.mean_degree or _DEFAULT_MEAN_DEGREE
        return min(1.0, mean_degree / self._full_degree)

    @property
    def _full_degree(self) -> float:
        """Return the expected number of outgoing relationships of a node at density 1."""
        neighbours = self.nodes if self.self_loops else self.nodes - 1
        return self.relationship_types * self.pairs / self.labels**2 * neighbours

    def resolved(self, index: int = 0) -> dict[str, Any]:
        """Return the plain data that reproduces graph `index` of this spec, with the density."""
        plain = self.model_dump(exclude={"mean_degree"}, exclude_none=True)
        return {**plain, "count": 1, "density": self.probability, "offset": self.offset + index}


PARALLEL_SHARE = 0.25
"""Share of relationships that repeat the ends of another one of their type, where parallel ones are allowed."""

Pools = dict[str, tuple[Value, ...]]
"""Property name → the values it can take."""


def generate_graph(spec: GraphSpec, seed: int, index: int = 0) -> PropertyGraph:
    """Return graph number `index` of a series; it depends on its spec, the seed and the index alone.

    Names, nodes, relationships and values are drawn separately: with another `missing_rate` the relationships stay.
    Labels and types without nodes or relationships are left out.
    """
    # A generator of random numbers for each part; the order of draws within a part decides the graph.
    number = spec.offset + index
    words = WordMaker(seeds.generator(seed, "graph-names", number), spec.names, short=spec.short_names)
    labels = [word.capitalize() for word in words.words(spec.labels)]
    types = [word.upper() for word in words.words(spec.relationship_types)]
    pools = _draw_pools(seeds.generator(seed, "graph-pools", number), words, spec)
    values = seeds.generator(seed, "graph-values", number)

    # A label per node, uniformly at random; then the ascending node numbers of each label.
    label_of = seeds.generator(seed, "graph-nodes", number).integers(0, spec.labels, spec.nodes)
    ends = np.cumsum(np.bincount(label_of, minlength=spec.labels))
    members = np.split(np.argsort(label_of, kind="stable"), ends[:-1])
    node_tables = []
    for label, numbers, pool in zip(labels, members, pools[: spec.labels], strict=True):
        columns = _draw_columns(values, pool, len(numbers), spec.missing_rate)
        if len(numbers):
            node_tables.append(NodeTable((label,), numbers, columns))

    links = seeds.generator(seed, "graph-relationships", number)
    relationship_tables = []
    for type_, pool in zip(types, pools[spec.labels :], strict=True):
        sources, targets = _draw_ends(links, members, spec)
        columns = _draw_columns(values, pool, len(sources), spec.missing_rate)
        if len(sources):
            relationship_tables.append(RelationshipTable(type_, sources, targets, columns))

    key_generator = seeds.generator(seed, "graph-keys", number)
    keys = node_keys(key_generator, spec.nodes, spec.names, short=spec.short_names)
    return PropertyGraph(keys, tuple(node_tables), tuple(relationship_tables), seed, spec.resolved(index))


def _draw_pools(rng: np.random.Generator, words: WordMaker, spec: GraphSpec) -> list[Pools]:
    """Draw property names and pools of every label, then of every relationship type; the mean holds for both.

    Every one has a property. Their number is the whole number nearest to the mean times that of labels or types.
    """
    counts: list[int] = []
    for classes in (spec.labels, spec.relationship_types):
        spare = max(0, round(spec.properties * classes) - classes)
        spare_of = np.bincount(rng.integers(0, classes, spare), minlength=classes)
        counts.extend((1 + spare_of).tolist())
    all_pools = []
    for count in counts:
        names = words.words(count)
        all_pools.append({name: _draw_pool(rng, words, spec.values) for name in names})
    return all_pools


def _draw_pool(rng: np.random.Generator, words: WordMaker, size: int) -> tuple[Value, ...]:
    """Draw words, or numbers below 1000 whose second decimal is not zero, so that all show two."""
    if rng.integers(0, 2):
        return tuple(words.words(size))
    # 0.01 … 0.09, 0.11 … 0.19, …, 999.99: nine numbers in each tenth
    tenths, hundredths = np.divmod(distinct_integers(rng, 90_000, size), 9)
    numbers = (10 * tenths + hundredths + 1) / 100
    return tuple(numbers.tolist())


def _draw_columns(
    rng: np.random.Generator, pools: Pools, length: int, missing_rate: float
) -> dict[str, PropertyColumn]:
    """Draw each property of each entity uniformly from the pool, or leave it out."""
    columns = {}
    for name, pool in pools.items():
        codes = rng.integers(0, len(pool), length, dtype=np.int32)
        if missing_rate:
            codes[rng.random(length) < missing_rate] = MISSING
        columns[name] = PropertyColumn(codes, pool)
    return columns


def _draw_ends(
    rng: np.random.Generator, members: list[NDArray[np.int64]], spec: GraphSpec
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw sources and targets of one relationship type: each allowed ordered pair of nodes is joined independently.

    The allowed pairs are numbered, label pair by label pair. The number of joined ones is binomial, and they are a
    uniform sample of that size, so that the pairs are never listed. A label pair is a table of numbers, with a row for
    each source and a column for each target: of 3 sources and 2 targets cell 2 is row 1, column 0. Without
    relationships from a node to itself, a table of one label has one column fewer: in row 2 the columns 0, 1 and 2 are
    the nodes 0, 1 and 3.
    """
    source_label, target_label = np.divmod(distinct_integers(rng, spec.labels**2, spec.pairs), spec.labels)
    sizes = np.array([len(numbers) for numbers in members])
    starts = np.cumsum(sizes) - sizes
    without_self = (source_label == target_label) & (not spec.self_loops)
    width = np.maximum(sizes[target_label] - without_self, 0)
    cells_of = sizes[source_label] * width
    ends_at = np.cumsum(cells_of)
    starts_at = ends_at - cells_of
    total = int(ends_at[-1])

    count = int(rng.binomial(total, spec.probability))
    repeats = 0
    if spec.parallel_relationships and count > 0:
        repeats = min(int(rng.binomial(count, PARALLEL_SHARE)), count - 1)
    cells = distinct_integers(rng, total, count - repeats)
    if repeats:
        repeated = cells[rng.integers(0, len(cells), repeats)]
        cells = np.sort(np.concatenate([cells, repeated]))

    block = np.searchsorted(ends_at, cells, side="right")
    row, column = np.divmod(cells - starts_at[block], width[block])
    column += without_self[block] & (column >= row)
    ordered = np.concatenate(members)
    return ordered[starts[source_label[block]] + row], ordered[starts[target_label[block]] + column]
