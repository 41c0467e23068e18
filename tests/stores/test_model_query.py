"""Queries of a model, with the names that the embedded engine stores."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphwalk.config.prompts import shipped_prompts
from graphwalk.stores.cypher_check import QueryRefused
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.embedded_graph import names_of
from graphwalk.stores.model_query import LONGEST_QUERY, write_query
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from graphwalk.types.values import Temporal
from tests.stores.random_cypher import OUTSIDE, PIECES, SCHEMA
from tests.stores.test_cypher_check import LOADS, OTHERS, WRITING

DIALECT = names_of(PropertyGraph.from_rows([], []), False)
DAY, MOMENT = Temporal("date", "1897-09-21"), Temporal("local datetime", "1897-05-30T21:30:00")
GRAPH = PropertyGraph.from_rows(
    [
        Node("a", ("Größe", "Ort"), {"name": "Ada", "1st": 2, "day": DAY, "at": MOMENT}),
        Node("b", ("Ort",), {"name": "Bo", "type": "x", "day": Temporal("date", "1898-01-02")}),
        Node("c", (), {"title": "set"}),
    ],
    [Relationship("führt zu", "a", "b", {"id": 7}), Relationship("führt zu", "b", "c", {})],
)
BO = {"labels": ["Ort"], "properties": {"day": "1898-01-02", "key": "b", "name": "Bo", "type": "x"}}


def written(query: str) -> str:
    return write_query(query, SCHEMA, DIALECT).cypher


@pytest.mark.parametrize(
    ("query", "cypher"),
    [
        ("MATCH (n:Film) RETURN n.year", "MATCH (n:Film) RETURN n.year"),
        ("MATCH (n {id: 1}) RETURN n {.id} AS m", "MATCH (n {`gw__id`: 1}) RETURN n {.`gw__id`} AS m"),
        ("MATCH (n) RETURN n.id, n.year // x", "MATCH (n) RETURN n.`gw__id` AS `n.id`, n.year"),
        (
            "MATCH (n) RETURN DISTINCT n.id ORDER BY n.id LIMIT 3",
            "MATCH (n) RETURN DISTINCT n.`gw__id` AS `n.id` ORDER BY n.`gw__id` LIMIT 3",
        ),
        ("MATCH (a)-[*]->(b) RETURN b", "MATCH (a)-[*..1000000]->(b) RETURN b"),
        ("MATCH (a)-[r:LIKES*2..]->(b) RETURN b", "MATCH (a)-[r:LIKES*2..1000000]->(b) RETURN b"),
        ("MATCH (a)-[*1..3]->()-[*2]-() RETURN 2 * 3 AS x", "MATCH (a)-[*1..3]->()-[*2]-() RETURN 2 * 3 AS x"),
        ("WITH [1, 2] AS l RETURN l[0] AS a, l[0..1] AS b", "WITH [1, 2] AS l RETURN l[0] AS a, l[0..1] AS b"),
        ("MATCH (n:Film|Person) WHERE n:Film RETURN n", "MATCH (n:Film|Person) WHERE n:Film RETURN n"),
    ],
)
def test_only_names_and_lengths_of_paths_are_changed(query: str, cypher: str) -> None:
    assert written(query) == cypher


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("MATCH (n:`Größe`) RETURN n.name", [{"n.name": "Ada"}]),
        ("MATCH (n:Größe:Ort) WHERE n['name'] = 'Ada' RETURN n.`1st` AS x", [{"x": 2}]),
        ("MATCH (n {name: 'Bo'}) RETURN n.type, labels(n)", [{"n.type": "x", "labels(n)": ["Ort"]}]),
        ("MATCH (n)-[r:`führt zu` {id: 7}]->() RETURN type(r), r.id", [{"type(r)": "führt zu", "r.id": 7}]),
        ("MATCH ()-[r]->() WHERE type(r) = 'führt zu' RETURN count(r) AS n", [{"n": 2}]),
        ("MATCH (n) WHERE size(labels(n)) = 0 RETURN n.title AS t", [{"t": "set"}]),
        ("MATCH (a:`Größe`)-[r]->(b) WHERE 'Ort' IN labels(a) RETURN labels(a) AS l, keys(r) AS k, b", [{"l": ["Größe", "Ort"], "k": ["id"], "b": BO}]),
        ("MATCH (n {key: 'b'}) UNWIND keys(n) AS k WITH k, n[k] AS v WHERE k = 'type' RETURN v", [{"v": "x"}]),
        ("MATCH (n) WHERE any(l IN labels(n) WHERE l = 'Größe') RETURN n {.name} AS m", [{"m": {"name": "Ada"}}]),
        ("MATCH (n:Ort) RETURN n.name, count(*) AS c ORDER BY n.name DESC", [{"n.name": "Bo", "c": 1}, {"n.name": "Ada", "c": 1}]),
        ("MATCH (n) WHERE n.day = date('1897-09-21') RETURN n.key AS key", [{"key": "a"}]),
        ("MATCH (n) WHERE n.at = localdatetime('1897-05-30T21:30') RETURN n.key AS key", [{"key": "a"}]),
        ("MATCH (n) WHERE n.day > date('1897-12-31') RETURN n.key AS key", [{"key": "b"}]),
        ("MATCH (n) WHERE n.day IN [date('1898-01-02'), date('1899-01-01')] RETURN n.key AS key", [{"key": "b"}]),
        ("MATCH (n) WHERE n.day = '1897-09-21' RETURN n.key AS key", []),
        ("MATCH (n:Ort) CALL (n) { MATCH (n)-->(m) RETURN count(m) AS c } RETURN n.key AS k, c ORDER BY k", [{"k": "a", "c": 1}, {"k": "b", "c": 1}]),
    ],
)  # fmt: skip
async def test_a_query_sees_the_names_and_dates_of_the_graph(query: str, rows: list[dict[str, Any]]) -> None:
    store = await EmbeddedDatabase().load(GRAPH)
    assert (await store.ask(query, seconds=10, rows=10)).rows == rows
    await store.drop()


async def test_a_path_without_a_bound_is_walked_to_its_end() -> None:
    """The engine by itself ends it after ten relationships."""
    keys = [f"k{i}" for i in range(25)]
    steps = [Relationship("NEXT", a, b, {}) for a, b in pairwise(keys)]
    store = await EmbeddedDatabase().load(PropertyGraph.from_rows([Node(key, ("Link",), {}) for key in keys], steps))
    for length in ("*", "*1..", ":NEXT*"):
        query = f"MATCH ({{key: 'k0'}})-[{length}]->(b) RETURN count(b) AS n"
        assert (await store.ask(query, seconds=10, rows=9)).rows == [{"n": 24}]
    await store.drop()


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        *((query, "write_refused") for query in WRITING if "INSERT" not in query),
        *((query, "not_offered") for query in LOADS if query[:7] not in ("PROFILE", "UNION L")),
        *((query, None) for query in OTHERS),
        ("CALL db.labels() YIELD label RETURN label", "not_offered"),
        ("RETURN $x", "not_offered"),
        ("RETURN 1 AS gw_0", "not_offered"),
        ("MATCH (n:GraphWalkLoad) RETURN n", "unknown_name"),
        ("MATCH (n:gw_node) RETURN n", "unknown_name"),
        ("MATCH ()-[:SAW]->() RETURN 1 AS x", "unknown_name"),
        ("MATCH (n) WHERE n.scope = 1 RETURN n", "unknown_name"),
        ("MATCH (n:``) RETURN n", "unknown_name"),
        ("RETURN date()", "query_error"),
        ("RETURN date({year: 1})", "query_error"),
        ("RETURN date('1897-13-01')", "query_error"),
        ("RETURN (1", "syntax"),
        ("RETURN 1" + " " * LONGEST_QUERY, "too_large"),
    ],
)
def test_a_query_is_refused_before_it_is_run(query: str, kind: str | None) -> None:
    with pytest.raises(QueryRefused) as refused:
        written(query)
    assert kind in (refused.value.kind, None)


@settings(max_examples=500, deadline=None)
@given(text=st.text(max_size=300) | st.lists(st.sampled_from([*PIECES, *OUTSIDE, " ", "n", "1", "."])).map(" ".join))
def test_any_text_is_written_or_refused_in_words(text: str) -> None:
    try:
        cypher = written(text)
    except QueryRefused as refused:
        cypher = shipped_prompts().message(refused.message, **{"close": [], "more": 0, **refused.values})
    assert cypher


@pytest.mark.parametrize(
    ("query", "ordered"),
    [
        ("MATCH (a) RETURN a.key AS k ORDER BY k", True),
        ("MATCH (a) WITH a ORDER BY a.key LIMIT 3 RETURN a.key", True),
        ("MATCH (a) RETURN a.key", False),
        ("MATCH (a) CALL { MATCH (b) RETURN b ORDER BY b.key LIMIT 1 } RETURN a.key", False),
    ],
)
def test_whether_rows_have_an_order(query: str, ordered: bool) -> None:
    assert write_query(query, SCHEMA, DIALECT).ordered == ordered
