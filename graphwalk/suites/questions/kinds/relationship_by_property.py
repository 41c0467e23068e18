"""Relationships of a type with a property value, with all their properties."""

from collections.abc import Iterator, Mapping

from graphwalk.suites.questions.agents.walker import NEIGHBOR_KEY, Steps, Walker, condition, side_of
from graphwalk.suites.questions.kinds import PythonPart
from graphwalk.suites.questions.tasks.brute_force import NetworkxGraph, same_value
from graphwalk.suites.questions.tasks.graph_index import GraphIndex, equal
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row, Value


class Part(PythonPart):
    relationship_type: str
    property: str
    value: Value

    def rows(self, index: GraphIndex) -> Iterator[Row]:
        names = index.property_names("relationship", self.relationship_type)
        for r in index.relationships_of.get(self.relationship_type, ()):
            if equal(r.properties.get(self.property), self.value):
                own = {name: r.properties.get(name) for name in names}
                yield {**own, "source_key": r.source, "target_key": r.target}

    def plan(self, walker: Walker) -> Steps[list[Row]]:
        links = yield from walker.links_of_type(self.relationship_type)
        type_ = walker.schema.relationship(self.relationship_type)
        names = [property_.name for property_ in type_.properties] if type_ else []
        return [
            {
                **{name: link.properties.get(name) for name in names},
                "source_key": link.source,
                "target_key": link.target,
            }
            for link in links
            if equal(link.properties.get(self.property), self.value)
        ]

    def brute_force(self, graph: NetworkxGraph) -> Iterator[Row]:
        edges = graph.nx.edges(data=True)
        typed = [(s, t, r["properties"]) for s, t, r in edges if r["type"] == self.relationship_type]
        names = sorted({name for _, _, own in typed for name in own})
        for source, target, own in typed:
            if same_value(own.get(self.property), self.value):
                yield {**{name: own.get(name) for name in names}, "source_key": source, "target_key": target}

    def by_reference(self, schema: Schema, rows: list[Row]) -> Mapping[str, str]:
        side = side_of(schema, self.relationship_type)
        source, target = ("center_key", NEIGHBOR_KEY) if side == "outgoing" else (NEIGHBOR_KEY, "center_key")
        names = [name for name in rows[0] if name not in ("source_key", "target_key")]
        held = [f"{name}=relationship_properties.{name}" for name in names]
        value = {f"relationship_properties.{self.property}": self.value}
        return {
            "columns": ", ".join([*held, f"source_key={source}", f"target_key={target}"]),
            "where": condition(direction=side, type=self.relationship_type, **value),
        }
