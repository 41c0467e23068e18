"""The twelve questions need something to ask about: every preset must offer it (docs/method.md, Graphs)."""

from collections import defaultdict
from itertools import permutations

import pytest

from graphwalk.graphs.random.generate import generate_graph
from graphwalk.graphs.random.spec import GRAPH_PRESETS, GraphSpec
from graphwalk.types.graph import Node, PropertyGraph, Relationship

GRAPHS_PER_PRESET = 12


class Neighbourhoods:
    def __init__(self, graph: PropertyGraph) -> None:
        self.nodes = {node.key: node for node in graph.nodes()}
        self.by_label: defaultdict[str, list[Node]] = defaultdict(list)
        for node in self.nodes.values():
            self.by_label[node.label].append(node)
        self.leaving: defaultdict[str, list[Relationship]] = defaultdict(list)
        for relationship in graph.relationships():
            self.leaving[relationship.source].append(relationship)
        self.types = {r.type for r in graph.relationships()}
        self.labels_after = {k: {self.nodes[r.target].label for r in self.leaving[k]} for k in self.nodes}

    def targets(self, keys: set[str]) -> set[str]:
        return {r.target for key in keys for r in self.leaving[key]}

    def hosted(self) -> set[str]:
        """Names of the questions that have an answer which is not trivial."""
        near = {key: self.targets({key}) for key in self.nodes}
        two = {key: self.targets(near[key]) for key in self.nodes}
        candidates = {
            "node_count": self._some(lambda after, a, b: a in after),
            "relationship_count": bool(self.types),
            "node_with_most_relationships": any(
                self._not_all_tied(label, t) for label in self.by_label for t in self.types
            ),
            "node_by_property": any(len(nodes) > 1 for nodes in self.by_label.values()),
            "relationship_by_property": len(self.types) > 0,
            "path_finding": any(two.values()),
            "variable_hop_path": any(any(near[t] for t in near[key]) for key in self.nodes),
            "path_from_specific_node": any(len(near[key] | two[key]) > 1 for key in self.nodes),
            "remote_node_property": any(two[key] - near[key] - {key} for key in self.nodes),
            "compositional_intersection": self._some(lambda after, a, b: a in after and b in after),
            "negation_with_connection": self._some(lambda after, a, b: a in after and b not in after)
            and self._some(lambda after, a, b: a in after and b in after),
            "negation_on_rel_property": any(self._values_differ(node) for node in self.nodes.values()),
        }
        return {name for name, possible in candidates.items() if possible}

    def _some(self, holds) -> bool:  # type: ignore[no-untyped-def]
        """Is there a label and a pair of others for which it holds for some nodes, and not for all?"""
        for nodes in self.by_label.values():
            for a, b in permutations(self.by_label, 2):
                if 0 < sum(holds(self.labels_after[node.key], a, b) for node in nodes) < len(nodes):
                    return True
        return False

    def _not_all_tied(self, label: str, type_: str) -> bool:
        counts = {sum(r.type == type_ for r in self.leaving[node.key]) for node in self.by_label[label]} - {0}
        return len(counts) > 1

    def _values_differ(self, node: Node) -> bool:
        """Does a property tell apart two relationships of one type to one label?"""
        seen: defaultdict[tuple[str, str, str], set[object]] = defaultdict(set)
        for r in self.leaving[node.key]:
            for name, value in r.properties.items():
                seen[r.type, self.nodes[r.target].label, name].add(value)
        return any(len(values) > 1 for values in seen.values())


@pytest.mark.parametrize("preset", GRAPH_PRESETS)
def test_presets_host_all_twelve_questions(preset: str) -> None:
    graphs = [generate_graph(GraphSpec(preset=preset), 7, index) for index in range(GRAPHS_PER_PRESET)]
    assert [len(Neighbourhoods(graph).hosted()) for graph in graphs] == [12] * GRAPHS_PER_PRESET
