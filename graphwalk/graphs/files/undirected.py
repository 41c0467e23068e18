"""Undirected graphs, which a property graph cannot hold as they are: refused, or read with every edge both ways."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Literal

from graphwalk.types.graph import Relationship

Undirected = Literal["refuse", "both"]
"""What becomes of an undirected edge: an error, or two relationships, there and back (one for a loop)."""

UNDIRECTED = (
    'a property graph has directions, so choose: undirected="both" (graphwalk convert FILE OUT --undirected both) '
    "reads every edge both ways"
)


def both_directions(relationships: Iterable[Relationship]) -> Iterator[Relationship]:
    """Every relationship, and right after it the same one the other way."""
    for relationship in relationships:
        yield relationship
        if relationship.source != relationship.target:
            yield replace(relationship, source=relationship.target, target=relationship.source)
