"""Cypher scripts that GraphWalk did not write: split into statements, checked, and run by a temporary Neo4j."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from graphwalk.database.scripts import Statement, read_any, run_script, statements
from graphwalk.errors import ConfigError, StoreError
from graphwalk.graphs.files import load_graph, save_graph
from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.stores.transfer import content_digest
from graphwalk.types.graph import Node, Relationship
from graphwalk.types.values import Point, Temporal
from graphwalk.variables import Variables
from tests.neo4j_servers import GIVEN, RELEASE_NAMES

SCRIPT = """// it's a script; without commands of a shell
CREATE CONSTRAINT person_name IF NOT EXISTS FOR (p:Person) REQUIRE p.name IS UNIQUE;
/* two
   lines; */
CREATE (k:Person:Actor {name: 'Kea; Nu', born: date('1964-09-02'), at: point({longitude: 12.5, latitude: 55.7})})
CREATE (m:Movie {title: "It's a \\"name\\"", `a;b`: ['a', 'b']})
CREATE (k)-[:ACTED_IN {roles: ['N;']}]->(m);
MATCH (m:Movie) SET m.length = duration('PT90M') // the last one has no end
"""


def test_a_script_is_taken_apart() -> None:
    constraint, creation, update = statements(SCRIPT)
    assert (constraint.line, creation.line, update.line) == (2, 5, 8)
    assert constraint.cypher.endswith("IS UNIQUE")
    assert creation.cypher.startswith("CREATE (k:Person")
    assert creation.cypher.endswith("->(m)")
    assert update.cypher.startswith("MATCH (m:Movie) SET m.length = duration('PT90M')")
    assert list(statements("MATCH (n) RETURN n;;\n ;// end")) == [Statement("MATCH (n) RETURN n", 1)]


@pytest.mark.parametrize(
    "command", [":param a => 1", ":params {a: 1}", ":begin", ":auto MATCH (n)", ":use neo4j", ":x"]
)
def test_a_command_of_a_shell_is_refused(command: str) -> None:
    name = command.partition(" ")[0]
    with pytest.raises(ValueError, match=f"^line 3: {name} is a command of a shell, not Cypher: remove the line$"):
        list(statements(f"RETURN ':a';\n// :b\n{command}\nRETURN 1;\n"))


async def test_unsupported_statements_are_errors_before_the_start(tmp_path: Path) -> None:
    path = tmp_path / "s.cypher"
    for text, message in [
        (
            "RETURN 'LOAD CSV';\nload  csv FROM 'http://127.0.0.1/x' AS l CREATE (:A);",
            "line 2: LOAD is not allowed here",
        ),
        ("// nothing\n", "it contains no statement"),
        (":source x\n", "line 1: :source is a command of a shell, not Cypher: remove the line"),
    ]:
        path.write_text(text)
        with pytest.raises(ConfigError, match=message):
            await run_script(path, Variables())


def test_a_reader_without_neo4j_names_the_command(tmp_path: Path) -> None:
    (tmp_path / "s.cypher").write_text(SCRIPT)
    with pytest.raises(ConfigError, match="only a Neo4j can run a Cypher script") as caught:
        load_graph(tmp_path / "s.cypher")
    assert "graphwalk convert s.cypher s.json" in caught.value.hint


@pytest.mark.neo4j
@pytest.mark.skipif(RELEASE_NAMES == (GIVEN,), reason="a server of its own is started for this")
@pytest.mark.extended
async def test_a_neo4j_of_its_own_runs_a_script(tmp_path: Path) -> None:
    path = tmp_path / "s.cypher"
    path.write_text(SCRIPT)
    try:
        graph = await read_any(path, Variables({"NEO4J_URI": "bolt://127.0.0.1:1"}))
    except StoreError as error:
        pytest.skip(str(error))
    person, movie = graph.nodes()
    assert person == Node(
        "Kea; Nu",
        ("Actor", "Person"),
        {"name": "Kea; Nu", "born": Temporal("date", "1964-09-02"), "at": Point(4326, (12.5, 55.7))},
    )
    assert movie.properties == {
        "title": 'It\'s a "name"',
        "a;b": ("a", "b"),
        "length": Temporal("duration", "PT1H30M"),
    }
    assert list(graph.relationships()) == [Relationship("ACTED_IN", person.key, movie.key, {"roles": ("N;",)})]
    own = generate_graph(GraphSpec(preset="paper-100"), 7)
    save_graph(own, path)
    again = await read_any(path, Variables())
    assert {(node.key, node.labels) for node in again.nodes()} == {(node.key, node.labels) for node in own.nodes()}
    assert content_digest(again) == content_digest(own)
    path.write_text("CREATE (:A);\nCREATE (:B;\n")
    with pytest.raises(ConfigError, match=r"s\.cypher: line 2: Neo4j refused the statement: Invalid input"):
        await read_any(path, Variables())


def servers_in(folder: Path) -> list[psutil.Process]:
    """Return the Neo4j processes whose home is below a folder."""
    processes = psutil.process_iter(["cmdline"])
    return [p for p in processes if any(f"--home-dir={folder}" in word for word in p.info["cmdline"] or ())]


@pytest.mark.neo4j
@pytest.mark.skipif(RELEASE_NAMES == (GIVEN,), reason="a server of its own is started for this")
@pytest.mark.extended
def test_a_killed_conversion_leaves_no_neo4j_and_no_files(tmp_path: Path) -> None:
    (tmp_path / "s.cypher").write_text(SCRIPT)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    words = [sys.executable, "-m", "graphwalk", "convert", "s.cypher", "s.json"]
    with subprocess.Popen(words, cwd=tmp_path, env={**os.environ, "TMPDIR": str(scratch)}) as command:
        while not (servers := servers_in(scratch)):
            if command.poll() is not None:
                assert command.returncode == 3
                pytest.skip("no Neo4j can be started from its jars")
            time.sleep(0.1)
        command.send_signal(signal.SIGKILL)
    assert psutil.wait_procs(servers, timeout=60)[1] == []
    while list(scratch.iterdir()):  # a test that hangs fails
        time.sleep(0.1)
    assert servers_in(scratch) == []
