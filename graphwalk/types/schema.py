"""The schema of a property graph: which labels, relationship types and properties exist."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from graphwalk.types.values import Value


@dataclass(frozen=True, slots=True)
class PropertyType:
    """One property of a label or a relationship type.

    `samples` are distinct values in ascending order; `complete` says that they are all there are.
    """

    name: str
    samples: tuple[Value, ...] = ()
    complete: bool = False


@dataclass(frozen=True, slots=True)
class NodeType:
    label: str
    properties: tuple[PropertyType, ...]


@dataclass(frozen=True, slots=True)
class RelationshipType:
    type: str
    pairs: tuple[tuple[str, str], ...]
    """(source label, target label) of every pair that the type joins, sorted."""
    properties: tuple[PropertyType, ...]


@dataclass(frozen=True, slots=True)
class SchemaRow:
    """One row of the table the agent sees: one per property, per pair for relationships (docs/method.md, Schema)."""

    number: int
    entity_type: Literal["Node", "Relationship"]
    entity_name: str
    pattern: str
    property: PropertyType | None


@dataclass(frozen=True, slots=True)
class Schema:
    """Everything sorted by name, so that equal graphs have equal schemas in every store."""

    nodes: tuple[NodeType, ...]
    relationships: tuple[RelationshipType, ...]

    def node(self, label: str) -> NodeType | None:
        return next((n for n in self.nodes if n.label == label), None)

    def relationship(self, type_: str) -> RelationshipType | None:
        return next((r for r in self.relationships if r.type == type_), None)

    def rows(self) -> Iterator[SchemaRow]:
        """The table of docs/method.md, Schema; an entity without properties has one row with `property` None."""
        number = 0
        for node in self.nodes:
            for prop in node.properties or (None,):
                number += 1
                yield SchemaRow(number, "Node", node.label, f"(:{node.label})", prop)
        for relationship in self.relationships:
            for source, target in relationship.pairs:
                pattern = f"(:{source})-[:{relationship.type}]->(:{target})"
                for prop in relationship.properties or (None,):
                    number += 1
                    yield SchemaRow(number, "Relationship", relationship.type, pattern, prop)
