"""The check of Cypher that a file or a model brings: what it refuses, what it lets pass, and in how much time."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphwalk.errors import ConfigError
from graphwalk.stores.cypher import render_cypher
from graphwalk.stores.cypher_check import REACHES_OUT, WRITES, CypherNotAllowedError, check_cypher

FILE = "FROM 'file:///etc/passwd' AS line RETURN line"
LOADS = (
    f"LOAD CSV {FILE}",
    f"load csv {FILE}",
    f"Load\nCsv {FILE}",
    f"LOAD \\u0043SV {FILE}",
    f"\\u004cOAD CSV {FILE}",
    f"LOAD\\u0020CSV {FILE}",
    f"LOAD/**/CSV {FILE}",
    f"LOAD// '\nCSV {FILE}",
    f"`LOAD` CSV {FILE}",
    f"LOAD `CSV` {FILE}",
    f"LOAD\u00a0CSV {FILE}",
    f"LOAD CSV WITH HEADERS {FILE}",
    f"PROFILE LOAD CSV {FILE}",
    f"UNION LOAD CSV {FILE}",
    f"RETURN 1 AS line UNION LOAD CSV {FILE}",
    f"MATCH (n) WITH n LIMIT 1LOAD CSV {FILE}",
    f"MATCH (n) WHERE n.x = 1.LOAD CSV {FILE}",
    f"CALL {{ LOAD CSV {FILE} }} RETURN line",
    f"MATCH (n) CALL (n) {{ LOAD CSV {FILE} }} RETURN line",
    f"RETURN COLLECT {{ LOAD CSV {FILE} }} AS lines",
    f"RETURN 'it\\'s' AS x UNION LOAD CSV {FILE}",
    f"RETURN `a``b` UNION LOAD CSV {FILE}",
    f"// comment\nLOAD CSV {FILE}",
    f"/* ' */ LOAD CSV {FILE} /* ' */",
    "LOAD CSV FROM '/dev/zero' AS l RETURN l",
)
WRITING = (
    "CREATE (n)",
    "MATCH (n) SET n.x = 1",
    "MATCH (n) set (n).x = 1",
    "MATCH (n) SET\n n:A",
    "MATCH (n) \\u0053ET n.x = 1",
    "MATCH (n) DELETE n",
    "MATCH (n) DETACH DELETE n",
    "MATCH (n) REMOVE n.x",
    "MERGE (n)",
    "INSERT (:A)",
    "DROP INDEX a",
    "MATCH (n) FOREACH (x IN [1] | SET n.x = 1)",
    "MATCH (n) CALL { WITH n DELETE n } IN TRANSACTIONS",
    "MATCH (n) WITH n.x AS x CREATE (m)",
    "MATCH (n) RETURN n NEXT CREATE (m)",
)
OTHERS = (
    "CALL",
    "CALL dbms.",
    "CALL dbms.listConfig()",
    "CALL `dbms`.`listConfig`()",
    "CALL dbms/**/.listConfig",
    "CALL db.labels() YIELD label CALL dbms.killQuery('x') YIELD value RETURN value",
    "CALL apoc.load.json('http://127.0.0.1') YIELD value RETURN value",
    "CALL\\u0020apoc.load.json('x') YIELD value RETURN value",
    "RETURN apoc.cypher.runFirstColumnSingle('LOAD CSV FROM \"x\" AS l RETURN l', {})",
    "RETURN `apoc`.`cypher` . runFirstColumnSingle('x', {})",
    "UNWIND [true] AS as WITH as WHERE as CALL dbms.listConfig() YIELD name RETURN name",
    "MATCH (n) WHERE n.as CALL dbms.listConfig() YIELD name RETURN name",
    "USE system SHOW DATABASES",
    "u\u017fe system MATCH (n) RETURN n",
    "SHOW DATABASES",
    "TERMINATE TRANSACTIONS 'x'",
    "START DATABASE neo4j",
    "STOP DATABASE neo4j",
    "ALTER CURRENT USER SET PASSWORD FROM 'a' TO 'b'",
    "ENABLE SERVER 'x'",
    "GRANT ROLE admin TO x",
    "EXPLAIN MATCH (n) RETURN n",
    "RETURN 1; RETURN 2",
    "RETURN '\\u0027 UNION MATCH (n) RETURN n //'",
    "MATCH (n:`a\\u0060) RETURN n //`) RETURN n",
    "RETURN 1 // \\u000a UNION RETURN 2",
    "RETURN 'a",
    "RETURN 1 /*",
    "RETURN `a",
    "RETURN \\",
    "",
    "// only a comment",
)
OUTSIDE = (
    "CALL db.labels() YIELD label RETURN label",
    "CALL (a) { MATCH (q) RETURN q } RETURN q",
    "USE graph.byName('neo4j') MATCH (n) RETURN n",
    "CYPHER 25 MATCH (n) RETURN n",
    "SHOW INDEXES",
    "MATCH (n) RETURN n NEXT MATCH (m) RETURN m",
    "MATCH (n:$('Secret')) RETURN n",
    "MATCH (n:$any(['Secret'])) RETURN n",
    "MATCH (n:!Film) RETURN n",
    "MATCH (n) WHERE n:Secret RETURN n",
    "MATCH ((a)-->(b)){1,3} RETURN a",
    "MATCH (a) (()-->())* (b) RETURN b",
    "MATCH p = SHORTEST 1 (a)-[:LIKES]->+(b) RETURN p",
    "MATCH (a)-[r WHERE r.days > 1]->(b) RETURN b",
    "MATCH (a WHERE a.year > 1) RETURN a",
    "RETURN COLLECT { MATCH (n) RETURN n }",
    "MATCH (n) RETURN n {.*, all: [(n)--(m) | m {.*}]}",
    "MATCH (n) RETURN elementId(n), id(n)",
    "RETURN reduce(t = '', x IN ['a'] | t + x)",
    "RETURN $__, $`x`, $1",
    "MATCH (n) USING INDEX n:Film(key) RETURN n",
    "MATCH (n) RETURN n /* */ // \n",
    "MATCH (n:Film`) RETURN n //`",
    "MATCH (n:`Film``) MATCH (m`) RETURN m",
    "MATCH (n:\\u0060Film\\u0060) RETURN n",
    "MATCH (n {key: 'x'}) RETURN n UNION MATCH (m) RETURN m AS n",
    "MATCH (n) WHERE n.key = '\\u0027}) MATCH (m) RETURN m //' RETURN n",
    "WITH 'a' AS x RETURN x + \"'\" + '\"' + '\\'",
)
_WORDS = "CALL USE WITH UNION RETURN MATCH WHERE CASE NOT EXISTS{ COUNT{ SKIP IN gw_0 gw_one `gw_one` Secret"
_SIGNS = "( ) [ ] { } ' \" ` \\ /* */ // ; | ! % & $ : .. =~ --> <-- -- <--> -[ ]-> * *1.. \\u0060 \\u0027"
_ODD_SIGNS = ("\0", "\u202e", "\u2028", "\ud800", "ı", "١", "9" * 40, "1e999", "0x1F")
PIECES = (*_WORDS.split(), *_SIGNS.split(), *_ODD_SIGNS)
ALLOWED = (
    "MATCH (n:Load) WHERE n.set = 1 RETURN n.call AS call, n {.use, .show, .*}",
    "MATCH (start:Show)-[:CALL]->(end) WITH start WHERE start.year > 1 RETURN start, end;",
    "MATCH (n:`SET`)-[:`LOADS`|`CALL`|`USE`]->(m) RETURN n.`drop` AS `delete`\nORDER BY n.`drop`",
    "MATCH (show)--(use) RETURN show.title, use",
    "RETURN 'LOAD CSV', \"CALL x; \", 'it\\'s' // SET\n",
    "MATCH (n {set: 1}) /* DELETE */ RETURN {use: n.x, call: 2}, [1, 2][0..1], 1e-5, .5",
    "CALL db.index.fulltext.queryNodes('titles', $text) YIELD node, score RETURN node.title, score",
    "MATCH (n) CALL (n) { MATCH (n)-->(m) RETURN m } RETURN m",
    "RETURN point.distance($a, $b), date.truncate('month', $c), duration.between($c, $d).days",
    "MATCH p = SHORTEST 1 (a)-[:R]->+(b) RETURN [x IN nodes(p) | x.key]",
)


@pytest.mark.parametrize("query", [*LOADS, *WRITING, *OTHERS])
def test_cypher_that_does_more_than_read_the_graph_is_refused(query: str) -> None:
    with pytest.raises(CypherNotAllowedError, match="is not allowed here"):
        check_cypher(query)
    with pytest.raises(ConfigError, match="is not allowed here"):
        render_cypher(query, {})


@pytest.mark.parametrize("query", ALLOWED)
def test_words_that_are_names_texts_or_comments_pass(query: str) -> None:
    check_cypher(query)


def test_the_names_of_a_template_are_no_clauses() -> None:
    template = (
        "MATCH (n:{{ l | label }})-[:{{ t | type }}]->() WHERE {{ p | of('n', l) }} = 1 RETURN n.{{ p | property }}"
    )
    for name in sorted(WRITES | REACHES_OUT):
        assert f"`{name}`" in render_cypher(template, {"l": name, "t": name, "p": name})


def test_a_refusal_names_the_line_and_the_word() -> None:
    with pytest.raises(CypherNotAllowedError, match=r"DELETE is not allowed here \(line 3 of the query\)"):
        check_cypher("MATCH (n)\n// x\nDELETE n")
    with pytest.raises(CypherNotAllowedError):  # the end of a comment for one engine, and not for another
        check_cypher("RETURN 1 // \r UNION RETURN 2")


@pytest.mark.extended
@pytest.mark.parametrize("piece", ["'\\'", "`", "/*", "LOAD ", "a.", ".x(", "\\u0041", "{{", "{#", "(", "'"])
def test_a_long_text_is_read_once(piece: str) -> None:
    """A pattern that goes back would take hours."""
    for first in ("", "RETURN "):
        with suppress(CypherNotAllowedError):
            check_cypher(first + piece * (100_000 // len(piece)))


@given(text=st.text(max_size=300) | st.lists(st.sampled_from([*PIECES, *OUTSIDE, " ", "n", "1"])).map(" ".join))
def test_any_text_passes_or_is_refused_in_words(text: str) -> None:
    with suppress(CypherNotAllowedError):
        assert check_cypher(text)
