"""Generated graphs: their names, their shape, and what a spec may ask for."""

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from pydantic import ValidationError

from graphwalk import seeds
from graphwalk.errors import ConfigError
from graphwalk.graphs.generate import (
    PARALLEL_SHARE,
    GraphSpec,
    WordMaker,
    generate_graph,
    node_keys,
    real_words,
)
from graphwalk.graphs.graph import MISSING, Node, PropertyColumn, PropertyGraph, Relationship
from tests.graphs.graphs import specs

PAPER_100_SEED_7 = "a745cd6599c1517db6b1ddb7912b0aea4d50d7a654ddf201735582b4a721de2a"
LARGE = GraphSpec(nodes=4000, labels=5, relationship_types=3, properties=2, values=10, mean_degree=5)


def pairs(graph: PropertyGraph) -> list[tuple[str, int, int]]:
    """(type, source number, target number) of all relationships."""
    rows = []
    for table in graph.relationship_tables:
        for source, target in zip(table.sources.tolist(), table.targets.tolist(), strict=True):
            rows.append((table.type, source, target))
    return rows


def test_same_bytes_in_every_release() -> None:
    """With another digest, recorded graphs can no longer be made again: think before changing it."""
    assert generate_graph(GraphSpec(preset="paper-100"), 7).digest == PAPER_100_SEED_7


def test_graphs_of_a_series_differ_and_can_be_made_one_by_one() -> None:
    spec = GraphSpec(preset="paper-100", count=3)
    series = [generate_graph(spec, 7, index) for index in range(3)]
    assert len({graph.digest for graph in series}) == 3
    assert generate_graph(GraphSpec(preset="paper-100"), 8).digest != series[0].digest
    again = generate_graph(GraphSpec(**series[2].spec), 7)
    assert (again.digest, again.seed, again.spec) == (series[2].digest, 7, series[2].spec)


def test_missing_values_change_nothing_else() -> None:
    whole = generate_graph(GraphSpec(preset="paper-100"), 7)
    holed = generate_graph(GraphSpec(preset="paper-100", missing_rate=0.5), 7)
    assert (pairs(whole), whole.keys) == (pairs(holed), holed.keys)


@given(spec=specs)
def test_every_graph_obeys_its_spec(spec: GraphSpec) -> None:
    graph = generate_graph(spec, 1)
    joined = pairs(graph)
    label_of = {}
    for nodes in graph.node_tables:
        for number in nodes.numbers.tolist():
            label_of[number] = nodes.label
    spans: dict[str, set[tuple[str, str]]] = {}
    for type_, source, target in joined:
        spans.setdefault(type_, set()).add((label_of[source], label_of[target]))
    assert sorted(label_of) == list(range(spec.nodes))
    assert len(set(graph.keys)) == spec.nodes
    assert len(spans) <= spec.relationship_types
    assert all(len(labels) <= spec.pairs for labels in spans.values())
    assert spec.self_loops or all(source != target for _, source, target in joined)
    assert spec.parallel_relationships or len(set(joined)) == len(joined)
    for table in (*graph.node_tables, *graph.relationship_tables):
        assert len(table.columns) >= 1
        for column in table.columns.values():
            assert len(set(column.pool)) == spec.values
            assert len({type(value) for value in column.pool}) == 1
            assert all((MISSING if spec.missing_rate else 0) <= code < spec.values for code in column.codes.tolist())
    assert generate_graph(spec, 1).digest == graph.digest


def test_density_is_the_chance_of_every_allowed_pair() -> None:
    graph = generate_graph(LARGE, 7)
    label_of = np.empty(4000, dtype=int)
    for number, table in enumerate(graph.node_tables):
        label_of[table.numbers] = number
    sizes = np.bincount(label_of)
    for table in graph.relationship_tables:
        blocks = Counter(zip(label_of[table.sources].tolist(), label_of[table.targets].tolist(), strict=True))
        assert len(blocks) == LARGE.pairs
        for (source, target), count in blocks.items():
            allowed = sizes[source] * (sizes[target] - (source == target))
            assert abs(count - allowed * LARGE.probability) < 5 * np.sqrt(allowed * LARGE.probability)


def test_parallel_relationships_are_there_when_asked_for() -> None:
    spec = GraphSpec(nodes=300, mean_degree=20, parallel_relationships=True, self_loops=True)
    joined = pairs(generate_graph(spec, 7))
    assert abs(1 - len(set(joined)) / len(joined) - PARALLEL_SHARE) < 0.03
    assert any(source == target for _, source, target in joined)


def test_the_digest_knows_no_order_of_tables_pools_or_relationships() -> None:
    graph = generate_graph(GraphSpec(preset="paper-100", missing_rate=0.2, parallel_relationships=True), 7)

    def turned(column: PropertyColumn) -> PropertyColumn:
        codes = np.where(column.codes == MISSING, MISSING, len(column.pool) - 1 - column.codes)
        return PropertyColumn(codes.astype(np.int32), (*column.pool[::-1], "unused"))

    nodes = []
    for table in graph.node_tables:
        columns = {name: turned(column) for name, column in reversed(table.columns.items())}
        nodes.append(replace(table, columns=columns))

    relationships = []
    for links in graph.relationship_tables:
        columns = {}
        for name, column in links.columns.items():
            other_pool = turned(column)
            columns[name] = PropertyColumn(other_pool.codes[::-1], other_pool.pool)
        turned_links = replace(links, sources=links.sources[::-1], targets=links.targets[::-1], columns=columns)
        relationships.append(turned_links)
    other = PropertyGraph(graph.keys, tuple(nodes[::-1]), tuple(relationships[::-1]))
    assert other.digest == graph.digest


def test_the_digest_sees_every_difference() -> None:
    nodes = [Node("a", ("L",), {"p": 1}), Node("b", ("L",), {"p": 2})]
    edge = Relationship("R", "a", "b", {"q": "x"})
    variants = [
        PropertyGraph.from_rows(nodes, [edge]),
        PropertyGraph.from_rows(nodes, [replace(edge, source="b", target="a")]),
        PropertyGraph.from_rows(nodes, [replace(edge, properties={"q": "y"})]),
        PropertyGraph.from_rows(nodes, [edge, edge]),
        PropertyGraph.from_rows([replace(nodes[0], properties={"p": 1.0}), nodes[1]], [edge]),
        PropertyGraph.from_rows([replace(nodes[0], properties={"p": True}), nodes[1]], [edge]),
        PropertyGraph.from_rows([replace(nodes[0], properties={"p": "1"}), nodes[1]], [edge]),
        PropertyGraph.from_rows([replace(nodes[0], properties={}), nodes[1]], [edge]),
        PropertyGraph.from_rows([replace(nodes[0], labels=("M",)), nodes[1]], [edge]),
    ]
    assert len({graph.digest for graph in variants}) == len(variants)


def test_words_are_distinct_and_mean_nothing() -> None:
    maker = WordMaker(seeds.generator(1, "test"))
    words = maker.words(2_000)
    assert len(set(words)) == len(words)
    assert not set(words) & (real_words())
    assert all(re.fullmatch("[a-z]{4,8}", word) for word in words)
    assert {len(word) for word in words} == {4, 5, 6, 7, 8}


def test_a_graph_of_short_names_has_the_relationships_of_the_other() -> None:
    long, short = (generate_graph(GraphSpec(nodes=40, short_names=short), 5) for short in (False, True))
    assert {len(key) for key in short.keys} == {2}
    assert {len(table.label) for table in short.node_tables} == {3}
    for one, other in zip(long.relationship_tables, short.relationship_tables, strict=True):
        assert (one.sources == other.sources).all()
        assert (one.targets == other.targets).all()
    with pytest.raises(ConfigError, match="more words than there are"):
        generate_graph(GraphSpec(nodes=40, values=1000, short_names=True), 5)


def test_all_names_of_a_graph_are_distinct_whatever_their_case() -> None:
    graph = generate_graph(GraphSpec(preset="paper-500"), 5)
    labels = [table.label for table in graph.node_tables]
    types = [table.type for table in graph.relationship_tables]
    properties = []
    values = []
    for table in (*graph.node_tables, *graph.relationship_tables):
        for name, column in table.columns.items():
            properties.append(name)
            values += [value for value in column.pool if isinstance(value, str)]
    names = [*labels, *types, *properties, *values, *graph.keys]
    assert len({name.lower() for name in names}) == len(names)
    assert all(label == label.capitalize() for label in labels)
    assert all(type_.isupper() for type_ in types)
    assert all(name.islower() for name in properties)


@pytest.mark.parametrize(
    ("short", "count", "length"), [(False, 500, 4), (False, 10_000, 6), (True, 100, 2), (True, 101, 4)]
)
def test_node_keys_are_short_unique_and_no_numbers(short: bool, count: int, length: int) -> None:
    keys = node_keys(seeds.generator(1, "test"), count, short=short)
    assert len(set(keys)) == count
    assert {len(key) for key in keys} == {length}
    assert all(re.fullmatch("([b-z][0-9])+", key) for key in keys[:1000])
    assert keys != sorted(keys)


def test_explicit_fields_override_the_preset() -> None:
    spec = GraphSpec(preset="paper-150", values=3, mean_degree=2)
    assert (spec.nodes, spec.labels, spec.values, spec.density) == (150, 8, 3, None)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"preset": "paper-99"}, "Input should be 'paper-100', 'paper-150', 'paper-200' or 'paper-500'"),
        ({"nodes": 3}, "4 labels need at least 4 nodes, not 3"),
        (
            {"nodes": 10, "mean_degree": 50},
            "mean_degree 50 is impossible: with every allowed pair of nodes joined it is 9",
        ),
        ({"density": 0.1, "mean_degree": 2}, "give density or mean_degree, not both"),
        ({"preset": "paper-100", "nodes": 1_000_000}, "about 29,999,970,000 relationships"),
        ({"density": float("nan")}, "density"),
        ({"node": 4}, "Extra inputs are not permitted"),
    ],
)
def test_impossible_values_are_errors(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        GraphSpec.model_validate(fields)
    assert message in str(caught.value)
