import re

import pytest

from graphwalk import seeds
from graphwalk.graphs.generate import (
    GraphSpec,
    WordMaker,
    cypher_words,
    english_words,
    generate_graph,
    node_keys,
)


def test_words_are_distinct_and_mean_nothing() -> None:
    maker = WordMaker(seeds.generator(1, "test"))
    words = maker.words(20_100)
    assert len(set(words)) == len(words)
    assert not set(words) & (english_words() | cypher_words())
    assert all(re.fullmatch("[a-z]{4,8}", word) for word in words)
    assert {len(word) for word in words} == {4, 5, 6, 7, 8}


def test_a_graph_of_short_names_has_the_relationships_of_the_other() -> None:
    long, short = (generate_graph(GraphSpec(nodes=40, short_names=short), 5) for short in (False, True))
    assert {len(key) for key in short.keys} == {2}
    assert {len(table.label) for table in short.node_tables} == {3}
    for one, other in zip(long.relationship_tables, short.relationship_tables, strict=True):
        assert (one.sources == other.sources).all()
        assert (one.targets == other.targets).all()
    with pytest.raises(ValueError, match="may need 2,875 words, and there are 1700 short ones"):
        GraphSpec(nodes=40, values=150, short_names=True)


def test_all_names_of_a_graph_are_distinct_whatever_their_case() -> None:
    graph = generate_graph(GraphSpec(preset="paper-500"), 5)
    tables = [*graph.node_tables, *graph.relationship_tables]
    names = [table.label for table in graph.node_tables] + [table.type for table in graph.relationship_tables]
    for table in tables:
        for name, column in table.columns.items():
            names += [name, *(value for value in column.pool if isinstance(value, str))]
    names += graph.keys
    assert len({name.lower() for name in names}) == len(names)
    assert all(table.label == table.label.capitalize() for table in graph.node_tables)
    assert all(table.type.isupper() for table in graph.relationship_tables)
    assert all(name.islower() for table in tables for name in table.columns)


@pytest.mark.parametrize(
    ("short", "count", "length"),
    [
        *((False, *sizes) for sizes in [(1, 4), (500, 4), (10_000, 6)]),
        *((True, *sizes) for sizes in [(1, 2), (100, 2), (101, 4), (50_000, 6)]),
    ],
)
def test_node_keys_are_short_unique_and_no_numbers(short: bool, count: int, length: int) -> None:
    keys = node_keys(seeds.generator(1, "test"), count, short=short)
    assert len(set(keys)) == count
    assert {len(key) for key in keys} == {length}
    assert all(re.fullmatch("([b-z][0-9])+", key) for key in keys[:1000])
    assert count == 1 or keys != sorted(keys)
