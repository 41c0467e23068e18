"""What a careless or a misled model could send: writes, and queries that never end."""

from benchmarks.peers.contestants import Call, Contestant

WRITES = {
    "CREATE": "CREATE (:Intruder)",
    "SET": "MATCH (n) WITH n LIMIT 1 SET n.gone = true",
    "DETACH DELETE": "MATCH (n) WITH n LIMIT 1 DETACH DELETE n",
    "CREATE INDEX": "CREATE INDEX intruder FOR (n:Intruder) ON (n.x)",
    "subquery in transactions": "UNWIND [1] AS x CALL { WITH x CREATE (:Intruder) } IN TRANSACTIONS",
    "a procedure that writes": "CALL db.createLabel('Intruder')",
    "a procedure that writes, by APOC": "CALL apoc.cypher.doIt('CREATE (:Intruder)', {}) YIELD value RETURN value",
    "LOAD CSV from the server's disk": "LOAD CSV FROM 'file:///etc/hostname' AS line RETURN line",
    "settings of the server": "CALL dbms.listConfig('db.transaction.timeout') YIELD name, value RETURN name, value",
}
BOMBS = {
    "count to 10¹⁰": "UNWIND range(1, 10000000000) AS x RETURN count(x) AS n",
    "all pairs of all nodes": "MATCH (a), (b), (c) WHERE a.key + b.key = c.key RETURN count(*) AS n",
    "all walks of 12 steps": "MATCH p = ()-[*12]-() RETURN count(p) AS n",
    "the whole graph": "MATCH (n) RETURN n",
    "a list of 10⁸ numbers": "RETURN reduce(l = [], x IN range(1, 100000000) | l + x) AS l",
}


def call(contestant: Contestant, cypher: str, label: str) -> Call:
    """The query, where queries can be sent; else the only place for it, an argument."""
    if contestant.query is not None:
        return contestant.query(cypher)
    return "get_node_by_property", {"label": label, "property_name": cypher, "property_value": cypher}
