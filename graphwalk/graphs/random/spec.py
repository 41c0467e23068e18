"""Which random property graphs can be generated; presets are the paper's (docs/method.md)."""

from typing import Any, Self

from pydantic import Field, NonNegativeInt, field_validator, model_validator

from graphwalk.config.strict import Spec
from graphwalk.graphs.random.names import NamePool, short_words_of

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
_MAX_POOL_VALUES = 1_000_000


class GraphSpec(Spec):
    """A random property graph. A preset fills what is not given; without one the defaults are close to paper-100.

    `density` is the probability that a relationship type joins an ordered pair of nodes whose labels it spans;
    `mean_degree`, the mean number of outgoing relationships of a node, may be given in its place.
    """

    preset: str | None = None
    """paper-100, paper-150, paper-200 or paper-500: the graphs of the paper."""
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
        given = {name: value for name, value in data.items() if value is not None or name not in cls.model_fields}
        filled = {**GRAPH_PRESETS.get(str(given.get("preset")), {}), **given}
        if "mean_degree" in given and "density" not in given:
            filled.pop("density", None)
        return filled

    @field_validator("preset")
    @classmethod
    def _check_preset(cls, preset: str | None) -> str | None:
        if preset is not None and preset not in GRAPH_PRESETS:
            raise ValueError(f"unknown preset {preset!r}; the presets are {', '.join(GRAPH_PRESETS)}")
        return preset

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
        if (expected := self.probability * self._full_degree * self.nodes) > _MAX_RELATIONSHIPS:
            raise ValueError(
                f"the graph would have about {expected:,.0f} relationships, the limit is {_MAX_RELATIONSHIPS:,}; "
                "give a lower density or mean_degree"
            )
        if (values := (self.labels + self.relationship_types) * self.properties * self.values) > _MAX_POOL_VALUES:
            raise ValueError(
                f"the properties would have about {values:,.0f} different values, the limit is {_MAX_POOL_VALUES:,}; "
                "give fewer properties, values or classes"
            )
        return self

    @model_validator(mode="after")
    def _check_words(self) -> Self:
        """Longer words never run out."""
        classes = self.labels + self.relationship_types
        words = classes + (classes * self.properties + 1) * (self.values + 1)
        if self.short_names and words > (most := short_words_of(self.names)):
            raise ValueError(
                f"the graph may need {words:,.0f} words, and there are {most} short ones; "
                "give fewer properties, values or classes, or leave out short_names"
            )
        return self

    @property
    def pairs(self) -> int:
        """Number of ordered label pairs that each relationship type spans."""
        return max(1, round(self.pair_fraction * self.labels**2))

    @property
    def probability(self) -> float:
        """The density, worked out from `mean_degree` if that was given."""
        if self.density is not None:
            return self.density
        return min(1.0, (self.mean_degree or _DEFAULT_MEAN_DEGREE) / self._full_degree)

    @property
    def _full_degree(self) -> float:
        """Expected number of outgoing relationships of a node at density 1."""
        neighbours = self.nodes if self.self_loops else self.nodes - 1
        return self.relationship_types * self.pairs / self.labels**2 * neighbours

    def resolved(self, index: int = 0) -> dict[str, Any]:
        """What makes graph number `index` of this spec again: plain data, the density always given."""
        plain = self.model_dump(exclude={"mean_degree"}, exclude_none=True)
        return {**plain, "count": 1, "density": self.probability, "offset": self.offset + index}
