"""A Neo4j with a graph of 10⁵ nodes in it, as anybody's would be: a uniqueness constraint a label, nothing of ours."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import platformdirs
from neo4j import Driver, GraphDatabase

from graphwalk import database
from graphwalk.database.jars import RELEASES, fetch_jars
from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.settings import Settings, read_settings
from graphwalk.stores.cypher import quote
from graphwalk.stores.transfer import node_batches, relationship_batches
from graphwalk.types.graph import PropertyGraph

APOC = (
    "org.neo4j.procedure:apoc-core:5.26.0:jar:core",
    "com.google.guava:guava:33.3.1-jre",
    "com.google.guava:failureaccess:1.0.2",
)
"""APOC Core, and what it expects to find on a server's path and the published jars of Neo4j do not hold."""
SPEC = GraphSpec(
    nodes=100_000, labels=8, relationship_types=10, mean_degree=5.0, pair_fraction=0.1, properties=4, values=200
)


def graph() -> PropertyGraph:
    return generate_graph(SPEC, seed=7)


def small_graph() -> PropertyGraph:
    return generate_graph(GraphSpec(preset="paper-100"), seed=7)


def fetch_apoc() -> Path:
    """The folder with the jars, fetched with Maven the first time."""
    folder = platformdirs.user_cache_path("graphwalk-neo4j", appauthor=False) / "apoc-5.26.0"
    if len(list(folder.glob("*.jar"))) < len(APOC):
        for artifact in APOC:
            words = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={folder}"]
            subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return folder


@contextmanager
def server(*, apoc: bool) -> Iterator[Settings]:
    """A server of its own, removed at the end. With APOC it is set up as the official image does it."""
    with TemporaryDirectory() as home:
        settings = Settings({**read_settings().variables, "GRAPHWALK_HOME": home})
        conf = {"db.memory.transaction.max": "256m"}
        if apoc:
            conf |= {
                "dbms.security.procedures.unrestricted": "apoc.*",
                "server.directories.plugins": str(Path(home) / "plugins"),
            }
            _with_apoc(Path(home))
        try:
            started = database.up(settings, with_="jars", release="5.26", port=None, conf=conf)
        finally:
            os.environ.pop("XDG_CACHE_HOME", None)
        try:
            yield Settings({"NEO4J_URI": started.uri, "NEO4J_PASSWORD": started.password})
        finally:
            database.down(settings, delete=True)


def _with_apoc(home: Path) -> None:
    """The jars of the release and APOC's in one folder, as where a plug-in is on the server's path."""
    release = RELEASES["5.26"]
    jars = home / "cache" / "graphwalk-neo4j" / release.version
    jars.mkdir(parents=True)
    plugins = home / "plugins"
    shutil.copytree(fetch_apoc(), plugins)
    for jar in (*fetch_jars(release).glob("*.jar"), *plugins.glob("*.jar")):
        (jars / jar.name).symlink_to(jar)
    os.environ["XDG_CACHE_HOME"] = str(home / "cache")


def _driver(settings: Settings) -> Driver:
    """It does not wait for a server that is gone."""
    return GraphDatabase.driver(
        settings.neo4j_uri or "",
        auth=(settings.neo4j_username, settings.neo4j_password or ""),
        connection_timeout=10.0,
        max_transaction_retry_time=5.0,
        notifications_min_severity="OFF",
    )


def load(graph: PropertyGraph, settings: Settings) -> None:
    with _driver(settings) as driver:
        for table in graph.node_tables:
            name = quote(table.label)
            driver.execute_query(f"CREATE CONSTRAINT FOR (n:{name}) REQUIRE n.key IS UNIQUE")
        driver.execute_query("CALL db.awaitIndexes(60)")
        for nodes in node_batches(graph, 10_000):
            driver.execute_query(
                f"UNWIND $rows AS row CREATE (n:{quote(nodes.labels[0])}) SET n = row", rows=nodes.rows
            )
        for edges in relationship_batches(graph, 10_000, by_pair=True):
            assert edges.pair is not None
            source, target = map(quote, edges.pair)
            driver.execute_query(
                f"UNWIND $rows AS row MATCH (a:{source} {{key: row.s}}) MATCH (b:{target} {{key: row.t}}) "
                f"CREATE (a)-[r:{quote(edges.type)}]->(b) SET r = row.p",
                rows=edges.rows,
            )


def facts(settings: Settings) -> list[object]:
    """What a write would change: numbers of nodes and relationships, labels, indexes, property names."""
    queries = (
        "MATCH (n) RETURN count(n) AS x",
        "MATCH ()-[r]->() RETURN count(r) AS x",
        "SHOW INDEXES YIELD name RETURN collect(name) AS x",
        "CALL db.labels() YIELD label RETURN collect(label) AS x",
        "MATCH (n) WHERE n.gone IS NOT NULL RETURN count(n) AS x",
    )
    with _driver(settings) as driver:
        return [driver.execute_query(query).records[0]["x"] for query in queries]


def running(settings: Settings, *, end: bool = False) -> int:
    """Queries that still run on the server; `end` terminates them."""
    with _driver(settings) as driver:
        found = driver.execute_query(
            "SHOW TRANSACTIONS YIELD transactionId, currentQuery "
            "WHERE NOT currentQuery STARTS WITH 'SHOW' RETURN transactionId"
        ).records
        if end:
            for record in found:
                driver.execute_query("TERMINATE TRANSACTIONS $id", id=record["transactionId"])
    return len(found)
