"""What is read of a query, and how it is written for a store."""

import pytest

from graphwalk.stores.cypher import UNSCOPED, Dialect
from graphwalk.stores.embedded_names import names_of
from graphwalk.stores.written.refusal import QueryRefused
from graphwalk.stores.written.translation import translate
from graphwalk.types.graph import PropertyGraph
from graphwalk.types.schema import NodeType, PropertyType, RelationshipType, Schema

SCHEMA = Schema(
    (
        NodeType("Film", (PropertyType("id"), PropertyType("key"), PropertyType("year"))),
        NodeType("Person", (PropertyType("key"),)),
    ),
    (RelationshipType("LIKES", (("Person", "Film"),), (PropertyType("days"),)),),
)


def scoped(query: str) -> str:
    return translate(query, SCHEMA, Dialect("gw_one")).cypher


@pytest.mark.parametrize(
    ("query", "written"),
    [
        ("MATCH (n) RETURN n", "MATCH (`n`:`gw_one`) RETURN `n` AS `n`"),
        ("match (:Film)--() return 1 as x;", "MATCH (:`Film`:`gw_one`)--(:`gw_one`) RETURN 1 AS `x`"),
        ("MATCH (n:Film|Person) RETURN *", "MATCH (`n`:(`Film`|`Person`)&`gw_one`) RETURN *"),
        ("MATCH (n:Film&Person) RETURN *", "MATCH (`n`:`Film`:`Person`:`gw_one`) RETURN *"),
        (
            "MATCH (a) WHERE (a)-->(:Person) AND NOT EXISTS { (a)<-[:LIKES*1..3]-(b) } RETURN a",
            "MATCH (`a`:`gw_one`) WHERE (`a`:`gw_one`)-->(:`Person`:`gw_one`) AND NOT EXISTS { "
            "(`a`:`gw_one`)<-[:`LIKES`*1..3]-(`b`:`gw_one`) } RETURN `a` AS `a`",
        ),
        (
            "MATCH (a) RETURN size((a)--()) AS n, [(a)-->(b) | b.key] AS l ORDER BY size((a)--())",
            "MATCH (`a`:`gw_one`) RETURN COUNT { (`a`:`gw_one`)--(:`gw_one`) } AS `n`, "
            "[(`a`:`gw_one`)-->(`b`:`gw_one`) | `b`.`key`] AS `l` ORDER BY `n`",
        ),
    ],
)
def test_every_node_of_every_pattern_is_confined(query: str, written: str) -> None:
    assert scoped(query) == written


def test_texts_travel_as_parameters_and_comments_do_not_travel() -> None:
    found = translate("MATCH (n {key: 'it\\'s \\u0027'}) // x\nRETURN n.year /* ' */", SCHEMA, UNSCOPED)
    assert found.cypher == "MATCH (`n` {`key`: $gw_0}) RETURN `n`.`year` AS `gw_0`"
    assert found.parameters == {"gw_0": "it's '"}
    assert found.columns == {"gw_0": "n.year"}


def test_properties_that_a_store_reserves_are_asked_for_under_its_names() -> None:
    found = translate(
        "MATCH (n:Film {id: 1}) RETURN n.id AS x, n {.id}", SCHEMA, names_of(PropertyGraph.from_rows([], []), False)
    )
    assert found.cypher.count("`gw__id`") == 3


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("CREATE (n)", "write_refused"),
        ("MATCH (n) DETACH DELETE n", "write_refused"),
        ("MATCH (n) SET n.key = 1 RETURN n", "write_refused"),
        ("MATCH (n) FOREACH (x IN [1] | CREATE ())", "write_refused"),
        ("CALL db.labels()", "not_offered"),
        ("MATCH (n) CALL { WITH n DELETE n } IN TRANSACTIONS", "not_offered"),
        ("LOAD CSV FROM 'file:///x' AS l RETURN l", "not_offered"),
        ("SHOW DATABASES", "not_offered"),
        ("USE system MATCH (n) RETURN n", "not_offered"),
        ("RETURN apoc.cypher.runFirstColumn('MATCH (n) RETURN n', {})", "not_offered"),
        ("RETURN `apoc`.`version`()", "not_offered"),
        ("MATCH (n) RETURN elementId(n)", "not_offered"),
        ("MATCH (n) WHERE n.key =~ '(a+)+' RETURN n", "not_offered"),
        ("MATCH ((a)-->(b)){1,3} RETURN a", "not_offered"),
        ("RETURN reduce(s = 'x', i IN [1] | s + s)", "not_offered"),
        ("RETURN $x", "not_offered"),
        ("MATCH (n:GraphWalkLoad) RETURN n", "unknown_name"),
        ("MATCH (n:gw_one) RETURN n", "unknown_name"),
        ("MATCH (n:!Film) RETURN n", "not_offered"),
        ("MATCH (n) WHERE n.scope = 1 RETURN n", "unknown_name"),
        ("RETURN 1; MATCH (n) DETACH DELETE n", "syntax"),
        ("MATCH (n) RETURN n \\u007d", "syntax"),
        ("MATCH (n:`Film\\u0060)`) RETURN n", "syntax"),
        ("MATCH (n RETURN n", "syntax"),
        ("MATCH (n)", "syntax"),
        ("", "syntax"),
        ("RETURN range(1, 30000000)", "too_large"),
        ("RETURN " + "(" * 30 + "1" + ")" * 30, "too_large"),
        ("RETURN 1" + "+1" * 20, "too_large"),
        ("RETURN 1" + " " * 5000, "too_large"),
    ],
)
def test_what_is_not_offered_is_refused(query: str, kind: str) -> None:
    with pytest.raises(QueryRefused) as refused:
        scoped(query)
    assert refused.value.kind == kind
