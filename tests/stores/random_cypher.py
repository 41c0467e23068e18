"""Queries that read, queries that are not offered, and both damaged at random."""

from random import Random

READING = (
    "MATCH (a:Zorep) RETURN a.key AS key, a.hue",
    "MATCH (a:Zorep {hue: 'vark'})-[r:DRAP]->(b) WHERE r.cost > 1 RETURN a, r, b ORDER BY b.key LIMIT 5",
    "MATCH p = (a)-[:DRAP*1..3]->(b) RETURN [n IN nodes(p) | n.key] AS keys, length(p)",
    "MATCH (a) OPTIONAL MATCH (a)<-[r]-(b) WITH DISTINCT a, count(r) AS degree WHERE degree > 0 RETURN a.key, degree",
    "MATCH (a:Zorep) RETURN a.key AS key UNION ALL MATCH (b:Blick) RETURN b.key AS key",
    "MATCH p = shortestPath((a:Zorep)-[*..4]-(b:Blick)) RETURN p",
    "UNWIND [1, 2, 3] AS x WITH x WHERE x IN [2, 3] RETURN {x: x, all: [1, x][0]} AS m",
    "MATCH (a) WHERE EXISTS { MATCH (a)-->(b) } RETURN CASE WHEN a.count > 3 THEN 'many' ELSE null END AS c",
    "MATCH (a) WHERE any(l IN labels(a) WHERE l = 'Zorep') AND NOT (a)--(:Blick) RETURN keys(a), a {.*, .hue}",
    "MATCH (a)-[r]->(b) RETURN type(r), startNode(r).key, collect(DISTINCT b['key']) AS ends, sum(r.cost)",
)
"""Queries that the check lets pass, on the graph of `tests.tools.conftest`."""
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


def damaged(draw: Random) -> str:
    """Return a query, or one from outside of what is offered, with pieces put in, cut out and swapped."""
    text = draw.choice(draw.choice((READING, OUTSIDE)))
    for _ in range(draw.randrange(4)):
        begin, end = sorted(draw.randrange(len(text) + 1) for _ in range(2))
        piece = draw.choice(PIECES)
        words = text.split(" ")
        draw.shuffle(words)
        changes = (
            text[:begin] + piece + text[begin:],
            text[:begin] + text[end:],
            text[:begin] + piece + text[end:],
            " ".join(words),
            text[:begin] + draw.choice(OUTSIDE) + text[begin:],
        )
        text = draw.choice(changes)
    return text
