"""What the parameters of a question can be on one graph."""

from collections.abc import Iterable, Mapping, Sequence
from random import Random

from graphwalk.suites.questions.oracle.graph_index import GraphIndex
from graphwalk.suites.questions.template import QuestionTemplate
from graphwalk.types.graph import Node, Relationship, value_order
from graphwalk.types.values import Value


class ParameterSpace:
    """Labels, types, keys, properties and values of a graph, in an order that depends on its content alone."""

    def __init__(self, index: GraphIndex, max_hops: int) -> None:
        self._index = index
        self._max_hops = max_hops
        self._labels = sorted(index.nodes_of)
        self._types = sorted(index.relationships_of)
        self._properties: dict[tuple[str, str], list[str]] = {}
        self._values: dict[tuple[str, str, Value], list[Value]] = {}

    def draw(self, template: QuestionTemplate, random: Random) -> dict[str, Value] | None:
        """Parameters, each uniform among what the earlier ones leave; None where they leave nothing."""
        chosen: dict[str, Value] = {}
        for name in template.parameters:
            options = self._options(template, name, chosen)
            if not options:
                return None
            chosen[name] = random.choice(options)
        return chosen

    def _options(self, template: QuestionTemplate, name: str, chosen: Mapping[str, Value]) -> Sequence[Value]:
        parameter = template.parameters[name]
        match parameter.role:
            case "label":
                other = chosen.get(parameter.differs_from or "")
                return [label for label in self._labels if label != other]
            case "relationship_type":
                return self._types
            case "key":
                return self._index.keys_of(str(chosen[str(parameter.of)]))
            case "property":
                return self._property_names(*self._owner(template, name, chosen))
            case "value":
                return self._property_values(*self._owner(template, name, chosen), chosen[str(parameter.of)])
            case "hops":
                return range(min(parameter.at_least, self._max_hops), self._max_hops + 1)

    def _owner(self, template: QuestionTemplate, name: str, chosen: Mapping[str, Value]) -> tuple[str, str]:
        """(role, name) of the label or relationship type that a property or value belongs to."""
        while template.parameters[name].role in ("property", "value"):
            name = str(template.parameters[name].of)
        return template.parameters[name].role, str(chosen[name])

    def _property_names(self, role: str, owner: str) -> list[str]:
        if (role, owner) not in self._properties:
            names = self._index.node_properties if role == "label" else self._index.relationship_properties
            self._properties[role, owner] = names(owner)
        return self._properties[role, owner]

    def _property_values(self, role: str, owner: str, name: Value) -> list[Value]:
        if (role, owner, name) not in self._values:
            entities: Iterable[Node | Relationship] = (
                self._index.nodes_of[owner] if role == "label" else self._index.relationships_of[owner]
            )
            found = (entity.properties.get(str(name)) for entity in entities)
            distinct = {value_order(value): value for value in found if value is not None}
            self._values[role, owner, name] = [distinct[order] for order in sorted(distinct)]
        return self._values[role, owner, name]
