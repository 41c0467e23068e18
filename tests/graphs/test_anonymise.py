"""The anonymised copy: the same graph under other names that reveal nothing of the original."""

import json
from pathlib import Path
from random import Random

import pytest

from graphwalk.graphs.anonymise import AnonymisedCopy, make_anonymised_copy, save_mapping, values_of
from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.graphs.graph import Node, PropertyGraph, Relationship, value_order
from graphwalk.graphs.values import Temporal, Value
from tests.suites.questions.any_graphs import any_graph

GRAPHS = [*(any_graph(Random(seed)) for seed in range(20)), generate_graph(GraphSpec(preset="paper-150"), 1)]


def mapped(copy: AnonymisedCopy) -> PropertyGraph:
    """Return the original with every name, key and value replaced by the copy's."""

    def properties(old: "dict[str, Value]") -> dict[str, Value]:
        return {copy.properties[name]: copy.values.of(name, value) for name, value in old.items()}

    nodes = []
    for node in copy.original.nodes():
        labels = sorted(copy.labels[label] for label in node.labels)
        nodes.append(Node(copy.keys[node.key], tuple(labels), properties(dict(node.properties))))

    relationships = []
    for old in copy.original.relationships():
        type_ = copy.relationship_types[old.type]
        source = copy.keys[old.source]
        target = copy.keys[old.target]
        relationships.append(Relationship(type_, source, target, properties(dict(old.properties))))
    return PropertyGraph.from_rows(nodes, relationships)


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.digest[:6])
def test_copy_is_the_graph_under_the_mapping_and_has_none_of_its_words(graph: PropertyGraph) -> None:
    copy = make_anonymised_copy(graph, 3)
    assert mapped(copy).digest == copy.graph.digest == make_anonymised_copy(graph, 3).graph.digest
    assert copy.graph.digest != make_anonymised_copy(graph, 4).graph.digest
    for names in (copy.labels, copy.relationship_types, copy.properties, copy.keys):
        assert len(set(names.values())) == len(names), "no two names become one"
    assert words_of(graph) & words_of(copy.graph) <= {""}


@pytest.mark.parametrize("graph", GRAPHS[:10], ids=lambda graph: graph.digest[:6])
def test_values_keep_difference_and_order(graph: PropertyGraph) -> None:
    copy = make_anonymised_copy(graph, 3)
    for name, values in values_of(graph).items():
        different = list({value_order(value): value for value in values}.values())  # 1, 1.0 and True differ
        renamed = [copy.values.of(name, value) for value in different]
        assert len({value_order(value) for value in renamed}) == len(different), f"{name}: values that differed are one"
        assert [type(value) for value in renamed] == [type(value) for value in different]

        numbers = sorted(value for value in different if type(value) in (int, float) and value == value)  # without NaN
        moved = [copy.values.of(name, number) for number in numbers]
        assert moved == sorted(moved)  # type: ignore[type-var]

        dates = sorted(value.text for value in different if isinstance(value, Temporal) and value.kind == "date")
        shifted = [copy.values.of(name, Temporal("date", text)) for text in dates]
        assert shifted == sorted(shifted)  # type: ignore[type-var]
        assert all(one.text != text for one, text in zip(shifted, dates, strict=True))  # type: ignore[union-attr]


def texts_in(value: object) -> set[str]:
    if isinstance(value, str):
        return {value.lower()}
    if isinstance(value, tuple):
        return set().union(*map(texts_in, value))
    return set()


def words_of(graph: PropertyGraph) -> set[str]:
    """Return every key, name and text of a graph, in lower case."""
    words = {key.lower() for key in graph.keys}
    for table in graph.node_tables:
        words.update(label.lower() for label in table.labels)
    words.update(table.type.lower() for table in graph.relationship_tables)
    for name, values in values_of(graph).items():
        words.add(name.lower())
        for value in values:
            words |= texts_in(value)
    return words


def test_large_and_close_numbers_stay_apart() -> None:
    values: list[Value] = [2**62, 2**62 + 1, -(2**62), 0, 1, 1.5, 1.25, 0.1, 1e300, -1e-9]
    graph = PropertyGraph.from_rows([Node(f"n{i}", ("P",), {"v": value}) for i, value in enumerate(values)], [])
    copy = make_anonymised_copy(graph, 1)
    ordered = [copy.values.of("v", value) for value in sorted(values)]  # type: ignore[type-var]
    assert ordered == sorted(set(ordered))  # type: ignore[type-var]
    assert all(isinstance(value, float) or abs(value) < 2**63 for value in ordered)  # type: ignore[arg-type]


def test_the_mapping_is_a_file_of_its_own_for_its_owner_alone(tmp_path: Path) -> None:
    copy = make_anonymised_copy(GRAPHS[0], 3)
    save_mapping(copy, tmp_path / "mapping.json")
    assert (tmp_path / "mapping.json").stat().st_mode & 0o777 == 0o600
    mapping = json.loads((tmp_path / "mapping.json").read_text(encoding="utf-8"))
    assert (mapping["twin"], mapping["keys"]) == (copy.graph.digest, copy.keys)
