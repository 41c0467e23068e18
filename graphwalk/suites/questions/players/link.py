"""A relationship as a player has read it."""

from collections.abc import Mapping
from dataclasses import dataclass

from graphwalk.types.values import Value


@dataclass(slots=True, eq=False)
class Link:
    """One relationship. Parallel ones may look alike, so each is equal to itself only.

    Nobody changes one. It is not frozen because millions are made, in a third of the time.

    The end that it was seen from is known by the one label that was asked for; it may have more.
    """

    source: str
    source_labels: frozenset[str]
    type: str
    target: str
    target_labels: frozenset[str]
    properties: Mapping[str, Value]
    """Empty where the tools do not show the properties of relationships."""
    neighbor: Mapping[str, Value]
    """Properties of the end that is not the centre."""
    outgoing: bool
    """Seen from its source."""

    @property
    def centre(self) -> str:
        """Key of the node it was seen from."""
        return self.source if self.outgoing else self.target
