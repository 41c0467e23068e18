"""Any text is either refused in words or rewritten with nothing in it unread, and the work for it is bounded."""

import re
import sys
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphwalk.config.prompts import shipped_prompts
from graphwalk.stores.cypher import Dialect
from graphwalk.stores.cypher_guard import LEFT_OUT, WRITES, QueryRefused, Translated, translate
from tests.stores.random_cypher import OUTSIDE, PIECES, SCHEMA, Writer

MOST_CALLS = 600
"""Calls and returns of functions for each character of a query: a measure of work that is the same on every machine."""
KINDS = {"syntax", "write_refused", "not_offered", "unknown_name", "query_error", "too_large"}
NAMES = ("Film", "Person"), ("LIKES",), ("key", "id", "year", "name", "days")
OWN_LABELS = "['gw_one', 'gw_none']"
"""The only texts of ours: what `labels()` leaves out."""
_QUOTED = re.compile(r"`(?:[^`]|``)*`")


def read(query: str) -> Translated | QueryRefused:
    """Return what becomes of a query; raise anything else."""
    try:
        return translate(query, SCHEMA, Dialect("gw_one"), cut=True)
    except QueryRefused as refused:
        return refused


def check(query: str) -> bool:
    """True where the query is accepted."""
    found = read(query)
    if isinstance(found, QueryRefused):
        assert found.kind in KINDS
        assert shipped_prompts().message(found.message, **{"close": [], "more": 0, **found.values})
        return False
    bare = _QUOTED.sub("`x`", found.cypher.replace(OWN_LABELS, ""))
    assert not set("'\";\\") & set(bare)
    assert not {word.lower() for word in re.findall(r"\w+", bare)} & (WRITES | LEFT_OUT)
    assert set(re.findall(r"\$\w*", bare)) <= {f"${name}" for name in found.parameters}
    assert found.cypher.count("MATCH") <= found.cypher.count("`gw_one`")
    assert "GraphWalkLoad" not in found.cypher
    return True


@settings(max_examples=600, deadline=None)
@given(draw=st.integers(0, 2**32).map(Random))
def test_queries_of_a_wide_grammar(draw: Random) -> None:
    check(Writer(draw, *NAMES).query())


@settings(max_examples=600, deadline=None)
@given(draw=st.integers(0, 2**32).map(Random))
def test_damaged_queries(draw: Random) -> None:
    check(Writer(draw, *NAMES).damaged())


@settings(max_examples=300, deadline=None)
@given(text=st.text(max_size=300) | st.lists(st.sampled_from([*PIECES, *OUTSIDE, " ", "n", "1"])).map(" ".join))
def test_any_text(text: str) -> None:
    check(text)


def test_the_grammar_is_wide_and_not_only_refused() -> None:
    draw = Random(1)
    accepted = sum(check(Writer(draw, *NAMES).query()) for _ in range(2_000))
    assert 300 < accepted < 1_900


@pytest.mark.parametrize(
    "long",
    [
        *("(" * 10_000, "CASE WHEN " * 1_000, "NOT " * 2_500, "- " * 5_000, "a." * 5_000, "'" * 9_999, "`" * 9_999),
        *("/*" * 5_000, "/* " * 3_300, "RETURN 1" + "=1" * 4_500, "RETURN " + "[0]" * 3_000, "UNION " * 1_600),
        *(
            "MATCH " + "()--" * 2_000,
            "MATCH (n:" + "Film|" * 900,
            "RETURN 1" + " " * 9_990,
            "a" * 10_000,
            "\\u0041" * 1_600,
        ),
        *(
            "RETURN " + "CASE 1 WHEN 1 THEN " * 180 + "1",
            "RETURN " + "CASE 1 WHEN 1 THEN " * 170 + "1" + " END" * 170,
            "RETURN " + "NOT " * 900 + "true",
            "x IN " * 700,
            "{a:" * 1_300,
        ),
        "RETURN " + "EXISTS { MATCH " * 250,
    ],
)
def test_the_work_for_a_query_grows_with_its_length_alone(long: str) -> None:
    read("RETURN 1")  # builds the parser
    for query in (long, long[:3_990], f"RETURN {long}", f"RETURN {long}"[:3_990]):
        calls = 0

        def count(*_: object) -> None:
            nonlocal calls
            calls += 1

        sys.setprofile(count)
        try:
            read(query)
        finally:
            sys.setprofile(None)
        assert calls < MOST_CALLS * min(len(query), 4_000)
        check(query)


@pytest.mark.parametrize("query", OUTSIDE)
def test_what_lies_outside_is_refused_in_words(query: str) -> None:
    accepted = {
        "MATCH (n) RETURN n {.*, all: [(n)--(m) | m {.*}]}",
        "MATCH (n) RETURN n /* */ // \n",
        "MATCH (n {key: 'x'}) RETURN n UNION MATCH (m) RETURN m AS n",
        "MATCH (n) WHERE n.key = '\\u0027}) MATCH (m) RETURN m //' RETURN n",
    }
    assert check(query) == (query in accepted)
