"""Targets of own questions on an existing Neo4j: a supply chain, which stays as it is."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from graphwalk.analysis.estimate import estimate_run
from graphwalk.analysis.verify import verify_run
from graphwalk.errors import ConfigError
from graphwalk.runs.experiment import load_experiment
from graphwalk.runs.folder import RunFolder
from graphwalk.runs.resolve import resolve
from graphwalk.stores.neo4j.connection import connect
from graphwalk.variables import Variables
from tests.neo4j_servers import GIVEN, RELEASE_NAMES, quiet_settings, release_params
from tests.runs.runs import records, start
from tests.safety.hostile import digest_of

pytestmark = pytest.mark.neo4j
SCHEMA = {
    "CONSTRAINT company": "FOR (n:Company) REQUIRE n.name IS UNIQUE",
    "CONSTRAINT part": "FOR (n:Part) REQUIRE n.number IS UNIQUE",
    "INDEX shipment": "FOR (n:Shipment) ON (n.code)",
    "FULLTEXT INDEX names": "FOR (n:Company|Part|Shipment) ON EACH [n.name, n.code]",
}
SUPPLY_CHAIN = (
    "UNWIND range(0, 79) AS n CREATE (:Part {number: 'P' + n, title: 'Œuvre ' + n, weight: n / 10.0}), "
    "(:Company:Supplier {name: 'Łódź Peña ' + n, founded: date({year: 1940 + n}), rating: n / 7.0}), "
    "(:Company:Plant {name: 'Grüne Söhne ' + n, capacity: n}), (:Shipment:Express {code: 'S' + n, units: n})",
    "UNWIND range(0, 79) AS n UNWIND [n, n * 7 % 80] AS m "
    "MATCH (a:Company {name: 'Łódź Peña ' + n}) MATCH (b:Part {number: 'P' + m}) "
    "CREATE (a)-[:SUPPLIES {price: n / 4.0, since: date('2020-02-03')}]->(b)",
    "UNWIND range(0, 79) AS n MATCH (a:Shipment {code: 'S' + n}) MATCH (b:Company {name: 'Grüne Söhne ' + n % 8}) "
    "CREATE (a)-[:ARRIVES_AT]->(b)",
)


QUESTIONS = [
    {
        "question": "Which parts?",
        "cypher": "MATCH (:Supplier {name: 'Łódź Peña 0'})-[:SUPPLIES]->(p) RETURN DISTINCT p",
    },
    {"question": "When was it founded?", "cypher": "MATCH (s:Supplier {name: 'Łódź Peña 0'}) RETURN s.founded"},
    {
        "question": "At what price?",
        "cypher": "MATCH ()-[r:SUPPLIES]->(p {number: 'P0'}) RETURN p.number AS part, r.price AS price",
    },
    {
        "question": "Where does S0 arrive?",
        "cypher": "MATCH (:Express {code: 'S0'})-[:ARRIVES_AT]->(b:Plant) RETURN b.name",
    },
]


@pytest.fixture(params=[param for param in release_params() if GIVEN not in RELEASE_NAMES])
async def supplied(request: pytest.FixtureRequest) -> AsyncIterator[Variables]:
    """A server of this test alone that holds the supply chain, and nothing before and after the test."""
    with quiet_settings(request.param) as settings:
        async with await connect(settings) as owner:
            await owner.write("MATCH (n) DETACH DELETE n")
            for name, definition in SCHEMA.items():
                await owner.write(f"CREATE {name} IF NOT EXISTS {definition}")
            await owner.write("CALL db.awaitIndexes(60)")
            for query in SUPPLY_CHAIN:
                await owner.write(query)
            yield settings
            for schema in SCHEMA:
                await owner.write(f"DROP {schema.removeprefix('FULLTEXT ')}")
            await owner.write("MATCH (n) DETACH DELETE n")


def file_of(folder: Path, lines: list[dict[str, Any]]) -> dict[str, Any]:
    """Write a file of questions; return the flags of an experiment with it on the database."""
    path = folder / "qa.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return {"suite.graphs": [{"neo4j": "neo4j"}], "suite.dataset": str(path), "store": "neo4j", "agent.turn_limit": 1}


WRONG = {
    "CREATE (n:Supplier) RETURN n": "cypher: CREATE is not allowed here",
    "MATCH (n:Supplier) RETURN apoc.create.node(['X'], {})": "cypher: ",
    "LOAD CSV FROM 'http://127.0.0.1:9/x' AS row RETURN row": "cypher: LOAD is not allowed here",
    "MATCH (n:Supplier RETURN n": "cypher: ",
    "MATCH (a), (b), (c), (d) RETURN count(*) + sum(a.rating * d.rating)": "cypher: ",
    "MATCH (n:Supplier {name: '-'}) RETURN n": "cypher: it returns nothing",
}


async def test_gold_queries_of_a_database_are_read_only(supplied: Variables, tmp_path: Path) -> None:
    before = await digest_of(None, supplied)  # type: ignore[arg-type]
    await start(tmp_path / "run", load_experiment("own-questions", flags=file_of(tmp_path, QUESTIONS)), supplied)
    tasks = {record["task"]["question"]: record["task"] for record in records(tmp_path / "run")}
    node, date, rows, place = (tasks[question["question"]] for question in QUESTIONS)
    assert node["names"].keys() == {row["value"] for row in node["gold"]}  # the title names the part too
    assert all(len(names) == 1 for names in node["names"].values())
    assert date["gold"][0]["value"][4] == "-"
    assert rows["fields"] == ["part", "price"]
    assert place["gold"] == [{"value": "Grüne Söhne 0"}]
    assert (await verify_run(RunFolder.open(tmp_path / "run"), supplied)).holds

    wrong = [{"question": query, "cypher": query} for query in WRONG]
    flags = file_of(tmp_path, [*wrong, {"question": "g", "answer": "Lodz Fabrik"}])
    with pytest.raises(ConfigError) as caught:
        await estimate_run(
            resolve(load_experiment("own-questions", flags={**flags, "agent.call_seconds": 1}), supplied), {}
        )
    absent = "answer: no key, value or name in the graph is 'Lodz Fabrik'"
    for line, problem in enumerate([*WRONG.values(), absent], 1):
        assert f"line {line}: {problem}" in str(caught.value)
    assert await digest_of(None, supplied) == before  # type: ignore[arg-type]
