"""Chains of nodes with random keys, and their questions."""

from itertools import pairwise
from typing import ClassVar

from pydantic import Field

from graphwalk.extend import Node, PropertyGraph, Relationship, Spec, SuiteConfig, stdlib_random

LABEL, TYPE = "Link", "NEXT"


# --- configuration: the fields under `suite:` in an experiment ---


class ChainSpec(Spec):
    """`count` chains (a field of every Spec) of `length` nodes."""

    length: int = Field(default=6, ge=2, le=1000)


class ChainsConfig(SuiteConfig):
    graphs_field: ClassVar[str] = "chains"

    name: str = "demo"
    chains: tuple[ChainSpec, ...] = (ChainSpec(count=3),)


# --- generator: the same chain for the same arguments ---


def make_chain(length: int, seed: int, number: int) -> list[str]:
    """Keys from the first node to the last."""
    draw = stdlib_random(seed, "chains", length, number)
    return [f"k{value}" for value in draw.sample(range(1000, 10_000), length)]


def chain_graph(keys: list[str]) -> PropertyGraph:
    nodes = [Node(key, (LABEL,), {}) for key in sorted(keys)]
    return PropertyGraph.from_rows(nodes, [Relationship(TYPE, a, b, {}) for a, b in pairwise(keys)])
