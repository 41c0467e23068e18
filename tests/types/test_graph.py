"""Graphs in memory: tables of properties, made from rows and read as rows."""

from graphwalk.types.graph import Node, PropertyGraph
from graphwalk.types.values import Value


def test_names_that_few_nodes_have_are_not_looked_up_in_all_nodes() -> None:
    looked_up = 0

    class Counting(dict[str, Value]):
        def __contains__(self, name: object) -> bool:
            nonlocal looked_up
            looked_up += 1
            return super().__contains__(name)

    nodes = [Node(f"k{i}", ("A",), Counting({f"p{i}": i, "common": 1})) for i in range(200)]
    graph = PropertyGraph.from_rows(nodes, [])
    assert looked_up <= 2 * len(nodes)
    assert list(graph.nodes()) == nodes
