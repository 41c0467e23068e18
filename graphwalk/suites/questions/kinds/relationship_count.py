"""Number of relationships of a type."""

from collections.abc import Iterator, Mapping

from graphwalk.suites.questions.brute_force import NetworkxGraph
from graphwalk.suites.questions.graph_index import GraphIndex
from graphwalk.suites.questions.walker import Steps, Walker, condition, links_of_type, side_of
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row


def rows(index: GraphIndex, relationship_type: str) -> Iterator[Row]:
    yield {"count": len(index.relationships_of.get(relationship_type, ()))}


def plan(walker: Walker, schema: Schema, relationship_type: str) -> Steps[list[Row]]:
    links = yield from links_of_type(walker, schema, relationship_type)
    return [{"count": len(links)}]


def brute_force(graph: NetworkxGraph, relationship_type: str) -> Iterator[Row]:
    yield {"count": [found for _, _, found in graph.nx.edges(data="type")].count(relationship_type)}


def by_reference(schema: Schema, rows: list[Row], relationship_type: str) -> Mapping[str, str]:
    where = condition(direction=side_of(schema, relationship_type), type=relationship_type)
    return {"columns": "count", "where": where, "count": "rows"}
