"""`graphwalk db clean --all --bulk` removes GraphWalk's own graphs at once, and never anything else."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from neo4j import Driver, GraphDatabase

from graphwalk import database
from graphwalk.database.aside import put_aside
from graphwalk.environment import Environment
from graphwalk.errors import StoreError
from graphwalk.graphs.random.generate import generate_graph
from graphwalk.graphs.random.spec import GraphSpec
from graphwalk.stores.neo4j.local_server import read_state
from graphwalk.stores.neo4j.store import Neo4jDatabase
from tests.database.another import connected_by_another
from tests.database.rich_graph import rich_graph

SMALL = generate_graph(GraphSpec(preset="paper-100"), 7)
CONTENT = (
    "MATCH (n) RETURN labels(n) AS labels, properties(n) AS properties",
    "MATCH (a)-[r]->(b) RETURN type(r) AS type, a.key AS a, b.key AS b, properties(r) AS properties",
    "SHOW INDEXES YIELD name, type RETURN name, type",
    "SHOW CONSTRAINTS YIELD name, type RETURN name, type",
)
FOREIGN = [
    ("CREATE (:Stranger {name: 'x'})", "MATCH (n:Stranger) DELETE n", "1 other nodes"),
    # As many nodes as the sum of all graphs: one of ours has the labels of two.
    # As many nodes as all graphs together, one of which is in two of them; and no entry that says how many there were.
    (
        "CREATE (:Stranger) WITH 1 AS one MATCH (l:GraphWalkLoad) SET l.state = 'dropping' "
        "WITH count(*) AS two MATCH (n:{first}) WITH n LIMIT 1 SET n:{second}",
        "MATCH (s:Stranger) DELETE s WITH count(*) AS one MATCH (l:GraphWalkLoad) SET l.state = 'complete' "
        "WITH count(*) AS two MATCH (n:{first}:{second}) REMOVE n:{second}",
        "1 other nodes",
    ),
    ("CREATE (:GraphWalkLoad {scope: 'Person'})", "MATCH (n {scope: 'Person'}) DELETE n", "no entries of its ledger"),
    (
        "MATCH (l:GraphWalkLoad {scope: '{first}'}) CREATE (l)-[:SEE]->(l)",
        "MATCH ()-[r:SEE]->() DELETE r",
        "1 relationships of entries",
    ),
    ("CREATE INDEX mine FOR (n:Stranger) ON n.name", "DROP INDEX mine", "1 indexes of its own"),
    (
        "CREATE CONSTRAINT gw_mine FOR (n:Stranger) REQUIRE n.name IS UNIQUE",
        "DROP CONSTRAINT gw_mine",
        "1 constraints of its own",
    ),
    (
        "MATCH (a:{first}), (b:{first}) WITH a, b LIMIT 1 CREATE (a)-[:MINE]->(b)",
        "MATCH ()-[r:MINE]->() DELETE r",
        "is not as it was loaded",
    ),
]
"""What somebody adds, how it is taken away, and what is said."""


@contextmanager
def session(server: Environment) -> Iterator[Driver]:
    state = read_state(server)
    assert state is not None
    with GraphDatabase.driver(state.uri, auth=("neo4j", state.password)) as driver:
        yield driver


def write(server: Environment, cypher: str) -> None:
    with session(server) as driver:
        driver.execute_query(cypher)  # type: ignore[arg-type]


def content(server: Environment) -> list[Any]:
    """All that the database holds; of the ledger what a look at it does not change."""
    with session(server) as driver:
        found = [driver.execute_query(query).records for query in CONTENT]  # type: ignore[arg-type]
        return [sorted(repr(sorted(record.items(), key=lambda item: item[0])) for record in rows) for rows in found]


@pytest.mark.slow
async def test_all_of_ours_goes_at_once(own_server: Environment) -> None:
    assert await database.clean_bulk(own_server) == []
    graphs, told = [SMALL, rich_graph()], list[str]()
    loaded = {(await database.load(own_server, graph)).scope for graph in graphs}
    constraints = content(own_server)[3]
    removed = await database.clean_bulk(own_server, tell=told.append)
    assert {load.scope for load in removed} == loaded
    assert told == ["looking at what is there", "stopping Neo4j", "starting Neo4j"]
    nodes, relationships, indexes, left = content(own_server)
    assert (nodes, relationships, left) == ([], [], [])
    assert all("LOOKUP" in index for index in indexes)
    state = read_state(own_server)
    assert state is not None
    assert not {path.name for path in state.folder.iterdir()} & {"set-aside", "given-up"}

    assert {(await database.load(own_server, graph)).scope for graph in graphs} == loaded
    assert content(own_server)[3] == constraints
    assert len(constraints) == 3


@pytest.mark.slow
async def test_whatever_else_there_is_stays(own_server: Environment) -> None:
    first, second = [(await database.load(own_server, graph)).scope for graph in (SMALL, rich_graph())]
    for add, take_away, said in FOREIGN:
        write(own_server, add.replace("{first}", first).replace("{second}", second))
        before, pid = content(own_server), read_state(own_server)
        with pytest.raises(StoreError, match=said) as raised:
            await database.clean_bulk(own_server)
        assert "without --bulk" in raised.value.hint
        assert (content(own_server), read_state(own_server)) == (before, pid)
        write(own_server, take_away.replace("{first}", first).replace("{second}", second))

    before, pid = content(own_server), read_state(own_server)
    with connected_by_another(own_server), pytest.raises(StoreError, match="others are connected"):
        await database.clean_bulk(own_server)
    run = await Neo4jDatabase.open(own_server, run_id="a-run")
    await run.load(generate_graph(GraphSpec(preset="paper-100"), 8))
    with pytest.raises(StoreError, match="a run uses the graph"):
        await database.clean_bulk(own_server)
    await run.close()
    await database.clean(own_server)

    def tell(step: str) -> None:
        if step == "stopping Neo4j":
            write(own_server, "CREATE (:Stranger {name: 'late'})")

    with pytest.raises(StoreError, match="somebody wrote to the database"):
        await database.clean_bulk(own_server, tell=tell)
    after = content(own_server)
    assert [node for node in after[0] if "late" in node]
    assert read_state(own_server) != pid
    assert len(after[0]) > SMALL.node_count


@pytest.mark.slow
async def test_the_old_database_is_back_where_the_new_one_does_not_start(own_server: Environment) -> None:
    await database.load(own_server, SMALL)
    before, state = content(own_server), read_state(own_server)
    assert state is not None
    taken, told = socket.socket(), list[str]()

    def tell(step: str) -> None:
        """The port is another's when the empty database is to start, and free again after that."""
        told.append(step)
        if told.count("starting Neo4j") == 1 and step == "starting Neo4j":
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            taken.bind(("127.0.0.1", state.port))
            taken.listen()
        elif step == "starting Neo4j":
            taken.close()

    with pytest.raises(StoreError, match="did not start"):
        await database.clean_bulk(own_server, tell=tell)
    assert told[-2:] == ["starting Neo4j"] * 2
    assert content(own_server) == before

    def up() -> None:
        database.up(own_server, with_="jars", release=state.release, port=state.port, heap="512m")

    # Somebody is killed who has set the database aside …
    database.down(own_server)
    put_aside(state.folder)
    up()
    assert content(own_server) == before

    # … or has given it up already.
    database.down(own_server)
    put_aside(state.folder)
    (state.folder / "set-aside").rename(state.folder / "given-up")
    up()
    assert content(own_server)[0] == []
    assert not (state.folder / "given-up").exists()


async def test_somebody_elses_server_is_not_touched(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="somebody's own") as raised:
        await database.clean_bulk(Environment({"NEO4J_URI": "bolt://127.0.0.1:1"}))
    assert "without --bulk" in raised.value.hint
    with pytest.raises(StoreError, match="no Neo4j runs here"):
        await database.clean_bulk(Environment({"GRAPHWALK_HOME": str(tmp_path)}))
