"""Which relationships of a type have a value in a property, and all that they hold."""

from collections.abc import Iterator

from graphwalk.suites.questions.oracle.equality import equal
from graphwalk.suites.questions.oracle.graph_index import GraphIndex
from graphwalk.suites.questions.players.reading import Steps
from graphwalk.suites.questions.players.surveys import links_of_type
from graphwalk.suites.questions.players.walker import Walker
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row, Value


def rows(index: GraphIndex, relationship_type: str, property: str, value: Value) -> Iterator[Row]:
    names = index.relationship_properties(relationship_type)
    for r in index.relationships_of.get(relationship_type, ()):
        if equal(r.properties.get(property), value):
            yield {name: r.properties.get(name) for name in names} | {"source_key": r.source, "target_key": r.target}


def plan(walker: Walker, schema: Schema, relationship_type: str, property: str, value: Value) -> Steps[list[Row]]:
    links = yield from links_of_type(walker, schema, relationship_type)
    type_ = schema.relationship(relationship_type)
    names = [property_.name for property_ in type_.properties] if type_ else []
    return [
        {**{name: link.properties.get(name) for name in names}, "source_key": link.source, "target_key": link.target}
        for link in links
        if equal(link.properties.get(property), value)
    ]
