"""How many relationships of a type there are."""

from collections.abc import Iterator

from graphwalk.suites.questions.oracle.graph_index import GraphIndex
from graphwalk.suites.questions.players.reading import Steps
from graphwalk.suites.questions.players.surveys import links_of_type
from graphwalk.suites.questions.players.walker import Walker
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row


def rows(index: GraphIndex, relationship_type: str) -> Iterator[Row]:
    yield {"count": len(index.relationships_of.get(relationship_type, ()))}


def plan(walker: Walker, schema: Schema, relationship_type: str) -> Steps[list[Row]]:
    links = yield from links_of_type(walker, schema, relationship_type)
    return [{"count": len(links)}]
