"""Node of a label with the most outgoing relationships of a type."""

from collections import Counter
from collections.abc import Iterator, Mapping

from graphwalk.suites.questions.brute_force import NetworkxGraph
from graphwalk.suites.questions.graph_index import GraphIndex
from graphwalk.suites.questions.walker import Steps, Walker, condition
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row


def rows(index: GraphIndex, source_label: str, relationship_type: str) -> Iterator[Row]:
    """Yield every node with the maximum count."""
    sources = (r.source for r in index.relationships_of.get(relationship_type, ()))
    counts = Counter(key for key in sources if index.has_label(key, source_label))
    most = max(counts.values(), default=0)
    return ({"node_key": key, "rel_count": count} for key, count in counts.items() if count == most)


def plan(walker: Walker, schema: Schema, source_label: str, relationship_type: str) -> Steps[list[Row]]:
    links = yield from walker.relationships({source_label})
    counts = Counter(x.source for x in links if x.type == relationship_type and source_label in x.source_labels)
    return [{"node_key": key, "rel_count": count} for key, count in counts.most_common(1)]


def brute_force(graph: NetworkxGraph, source_label: str, relationship_type: str) -> Iterator[Row]:
    counts = {
        key: [found for _, _, found in graph.nx.out_edges(key, data="type")].count(relationship_type)
        for key in graph.labelled(source_label)
    }
    most = max(counts.values(), default=0)
    return ({"node_key": key, "rel_count": n} for key, n in counts.items() if n == most > 0)


def by_reference(schema: Schema, rows: list[Row], source_label: str, relationship_type: str) -> Mapping[str, str]:
    where = condition(direction="outgoing", type=relationship_type)
    return {"columns": "node_key=center_key, rel_count", "where": where, "count": "most"}
