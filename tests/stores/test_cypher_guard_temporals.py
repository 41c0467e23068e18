"""Dates in queries of a model's own: found on every store, and refused where they are made of anything but a text."""

import pytest

from graphwalk.stores.base import Database
from graphwalk.stores.cypher import UNSCOPED
from graphwalk.stores.cypher_guard import QueryRefused, translate
from graphwalk.types.graph import Node, PropertyGraph
from graphwalk.types.values import Temporal
from tests.stores.test_cypher_guard import SCHEMA

DAY, MOMENT = Temporal("date", "1897-09-21"), Temporal("local datetime", "1897-05-30T21:30:00")
GRAPH = PropertyGraph.from_rows(
    [Node("a", ("V",), {"day": DAY, "at": MOMENT}), Node("b", ("V",), {"day": Temporal("date", "1898-01-02")})], []
)


@pytest.mark.parametrize(
    ("condition", "keys"),
    [
        ("n.day = date('1897-09-21')", ["a"]),
        ("n.at = localdatetime('1897-05-30T21:30')", ["a"]),
        ("n.day > date('1897-12-31')", ["b"]),
        ("n.day IN [date('1898-01-02'), date('1899-01-01')]", ["b"]),
        ("n.day = '1897-09-21'", []),
    ],
)
async def test_a_date_is_found_as_such(any_database: Database, condition: str, keys: list[str]) -> None:
    store = await any_database.load(GRAPH)
    found = await store.ask(f"MATCH (n:V) WHERE {condition} RETURN n.key AS key", seconds=10, rows=10)
    assert [row["key"] for row in found.rows] == keys


@pytest.mark.parametrize(
    "call", ["date()", "date({year: 1})", "date('1897-13-01')", "datetime('x' + 'y')", "duration(3)"]
)
def test_what_is_no_text_in_iso_8601_is_refused(call: str) -> None:
    with pytest.raises(QueryRefused):
        translate(f"MATCH (n) RETURN {call} AS x", SCHEMA, UNSCOPED)
