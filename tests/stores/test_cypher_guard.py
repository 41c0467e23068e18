"""What is read of a query, and how it is written for a store."""

import pytest

from graphwalk.config.prompts import shipped_prompts
from graphwalk.stores.cypher import UNSCOPED, Dialect
from graphwalk.stores.cypher_guard import QueryRefused, translate
from graphwalk.stores.embedded_graph import names_of
from graphwalk.types.graph import PropertyGraph
from graphwalk.types.schema import NodeType, PropertyType, RelationshipType, Schema

SCHEMA = Schema(
    (
        NodeType("Film", (PropertyType("id"), PropertyType("key"), PropertyType("year"))),
        NodeType("Person", (PropertyType("key"),)),
    ),
    (RelationshipType("LIKES", (("Person", "Film"),), (PropertyType("days"),)),),
)


EMBEDDED = names_of(PropertyGraph.from_rows([], []), False)


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
            "MATCH (a) RETURN COUNT { (a)--() } AS n, [(a)-->(b) | b.key] AS l ORDER BY COUNT { (a)--() }",
            "MATCH (`a`:`gw_one`) RETURN COUNT { (`a`:`gw_one`)--(:`gw_one`) } AS `n`, "
            "[(`a`:`gw_one`)-->(`b`:`gw_one`) | `b`.`key`] AS `l` ORDER BY `n`",
        ),
    ],
)
def test_every_node_of_every_pattern_is_confined(query: str, written: str) -> None:
    assert scoped(query) == written


def test_texts_travel_as_parameters_and_comments_do_not_travel() -> None:
    found = translate("MATCH (n {key: 'it\\'s \\u0027'}) // x\nRETURN n.year /* ' */", SCHEMA, UNSCOPED)
    assert found.cypher == "MATCH (`n` {`key`: $gw_t0}) RETURN `n`.`year` AS `gw_0`"
    assert found.parameters == {"gw_t0": "it's '"}
    assert found.columns == {"gw_0": "n.year"}


def test_properties_that_a_store_reserves_are_asked_for_under_its_names() -> None:
    found = translate("MATCH (n:Film {id: 1}) RETURN n.id AS x, n {.id}", SCHEMA, EMBEDDED)
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
        ("MATCH (n) RETURN size((n)--())", "not_offered"),
        ("RETURN " + "CASE WHEN true THEN " * 60 + "1" + " END" * 60, "too_large"),
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


@pytest.mark.parametrize(
    ("query", "rule"),
    [
        ("MATCH (a)-[r]->() MATCH (r) RETURN r", "two_kinds"),
        ("MATCH (a) WITH 1 AS a MATCH (a) RETURN a", "two_kinds"),
        ("MATCH p = (a)-->(p) RETURN a", "two_kinds"),
        ("MATCH (a)-[r]->()-[r]->() RETURN r", "walked_twice"),
        ("MATCH (a) WHERE (a)-[r]->() RETURN a", "new_variable"),
        ("MATCH (a) WHERE NOT exists((a)-->(b)) RETURN a", "new_variable"),
        ("MATCH (a) WHERE count(a) > 1 RETURN a", "aggregate"),
        ("MATCH (a) WITH a, count(*) AS n WHERE count(*) > 1 RETURN a", "aggregate"),
        ("MATCH (a) RETURN sum(count(a)) AS n", "aggregate"),
        ("UNWIND [count(*)] AS x RETURN x", "aggregate"),
        ("MATCH (a) WHERE a RETURN a", "no_condition"),
        ("MATCH (a) WHERE a.key = 'x' OR 'y' RETURN a", "no_condition"),
        ("RETURN NOT 1 AS x", "no_condition"),
        ("MATCH ()-[r*1..2]->() RETURN r.days AS d", "no_properties"),
        ("WITH 'x' AS t RETURN t.key AS k", "no_properties"),
        ("MATCH ()-[r*1..2]->() RETURN length(r) AS n", "argument"),
        ("MATCH (a) RETURN type(a) AS t", "argument"),
        ("RETURN 1e999 AS x", "too_large"),
        ("MATCH (a) WITH a.key RETURN 1 AS x", "no_name"),
        ("MATCH (a) RETURN a.key, a.key", "twice"),
        ("MATCH (a) RETURN a.key AS x, 1 AS x", "twice"),
        ("MATCH (a) RETURN *, 1 AS a", "twice"),
        ("MATCH (a) RETURN (a)-->()", "pattern"),
        ("MATCH () RETURN *", "no_variables"),
        ("RETURN 1 AS x UNION RETURN 2 AS x UNION ALL RETURN 3 AS x", "unions"),
        ("RETURN 1 AS x UNION RETURN 2 AS y", "union_columns"),
        ("MATCH (a) RETURN a.key UNION MATCH (b) RETURN b.key", "union_columns"),
    ],
)
def test_rules_of_cypher_are_kept_before_anything_is_run(query: str, rule: str) -> None:
    with pytest.raises(QueryRefused) as refused:
        scoped(query)
    assert refused.value.values["rule"] == rule
    told = shipped_prompts().message(refused.value.message, **refused.value.values)
    assert told.endswith("Nothing was run.")
    assert len(told) > 40


@pytest.mark.parametrize(
    "query",
    [
        "MATCH (a)-[r]->() MATCH (b)-[r]->() RETURN b",
        "MATCH (a) WITH a AS b MATCH (b)-->(a) RETURN a",
        "MATCH (a) WHERE [(a)-[r]->(b) | r.days] <> [] RETURN a",
        "MATCH (a) WHERE EXISTS { (a)-[r]->(b) WHERE r.days > 1 } RETURN a",
        "MATCH (a)-[r]->() WITH collect(r) AS rs MATCH ()-[rs*1..2]->() RETURN rs",
        "MATCH (a) WITH a, count(*) AS n WHERE n > 1 AND (a)-->() RETURN a ORDER BY n",
        "MATCH (a) RETURN a.key ORDER BY count(*)",
        "MATCH (a) RETURN [x IN collect(a.key) WHERE x <> 'y'] AS l",
        "MATCH (a) WITH *, 1 AS one RETURN *",
        "MATCH (a) RETURN a.key UNION ALL MATCH (a:Film) RETURN a.key",
        "OPTIONAL MATCH (a) WITH null AS r MATCH ()-[r]->() RETURN r",
    ],
)
def test_what_keeps_the_rules_is_read(query: str) -> None:
    assert scoped(query)


@pytest.mark.parametrize(
    ("query", "written"),
    [
        ("RETURN 1 < 2 <= 3 AS x", "RETURN (1 < 2 AND 2 <= 3) AS `x`"),
        ("RETURN true = 1 IN [1] AS x", "RETURN TRUE = (1 IN [1]) AS `x`"),
        ("RETURN 1 IN [2] + 1 AS x", "RETURN 1 IN ([2] + 1) AS `x`"),
        ("RETURN .5 AS x", "RETURN 0.5 AS `x`"),
        ("MATCH (a)<-[r]->(b:(Film)) RETURN 1 AS x", "MATCH (`a`)-[`r`]-(`b`:`Film`) RETURN 1 AS `x`"),
        ("MATCH (a)-[*]->() RETURN 1 AS x", "MATCH (`a`)-[*..1000000]->() RETURN 1 AS `x`"),
        ("MATCH (a)-[*2..]->() RETURN 1 AS x", "MATCH (`a`)-[*2..1000000]->() RETURN 1 AS `x`"),
        ("WITH {id: 1} AS m RETURN m['id'] AS x", "WITH {`gw__id`: 1} AS `m` RETURN `m`[$gw_t0] AS `x`"),
    ],
)
def test_what_the_embedded_engine_would_not_read_is_written_so_that_it_does(query: str, written: str) -> None:
    assert translate(query, SCHEMA, EMBEDDED, cut=True).cypher == written


@pytest.mark.parametrize(
    ("query", "ordered"),
    [
        ("MATCH (a) RETURN a.key AS k ORDER BY k", True),
        ("MATCH (a) WITH a ORDER BY a.key LIMIT 3 RETURN a.key", True),
        ("MATCH (a) WITH a ORDER BY a.key RETURN count(a)", False),
        ("MATCH (a) WITH a ORDER BY a.key RETURN DISTINCT a", False),
        ("MATCH (a) WITH a ORDER BY a.key MATCH (a)-->(b) RETURN b", False),
        ("MATCH (a) RETURN a ORDER BY a.key UNION MATCH (a) RETURN a", False),
    ],
)
def test_whether_rows_have_an_order(query: str, ordered: bool) -> None:
    assert translate(query, SCHEMA, UNSCOPED).ordered == ordered


def test_columns_of_unions_are_told_by_their_text() -> None:
    found = translate("MATCH (a) RETURN a.key, 'x' UNION MATCH (a) RETURN 'x', a.key", SCHEMA, UNSCOPED)
    assert found.columns == {"gw_0": "a.key", "gw_1": "'x'"}
    assert found.cypher.endswith("RETURN $gw_t0 AS `gw_1`, `a`.`key` AS `gw_0`")


def test_an_engine_complains_in_the_names_of_the_model() -> None:
    found = translate("MATCH (n {key: 'it'}) RETURN n.key + 1", SCHEMA, Dialect("gw_one"))
    problem = "No good: `n`:`gw_one` for parameter 'gw_t0' (line 1, column 7 (offset: 6))\n\"MATCH …\""
    assert found.reworded(problem) == "No good: `n` for parameter 'it'"
    assert found.reworded("gw__id and `gw_0` at line 1, col 4") == "id and n.key + 1"
