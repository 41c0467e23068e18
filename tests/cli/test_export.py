"""`graphwalk export`: traces of runs, and graphs in other forms."""

import asyncio
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from typer.testing import CliRunner

from graphwalk.cli.app import app
from graphwalk.graphs.files import load_graph
from graphwalk.graphs.values import Temporal
from graphwalk.stores.neo4j.connection import connect
from graphwalk.variables import Variables
from tests.forked_commands import graphwalk


def export(*words: object) -> Any:
    return CliRunner().invoke(app, ["export", *map(str, words)])


def test_traces_of_a_run_are_counted_and_splits_of_one_graph_are_refused(tmp_path: Path) -> None:
    run = tmp_path / "run"
    size = ("--graphs", "1", "-o", "suite.graphs.*.nodes=40", "--limit", "4")
    words = ("run", "quickstart", *size, "-m", "scripted/expert", "-m", "scripted/flawed")
    assert CliRunner().invoke(app, [*words, "--out", str(run)]).exit_code == 0
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    written = export("traces", run, "--out", first, "--correct", "-m", "scripted/expert")
    assert written.exit_code == 0, written.output
    assert f"{len(first.read_text().splitlines())} chats written to {first}" in " ".join(written.output.split())
    refused = export("traces", run, "--out", second, "-m", "scripted/flawed", "--not-in", first)
    assert refused.exit_code != 0
    assert f"has a graph of {first}:1" in str(refused.exception)
    assert not second.exists()


def test_a_graph_is_written_in_another_form(tmp_path: Path) -> None:
    assert export("graph", "example", tmp_path / "csv").exit_code == 0
    done = export("graph", tmp_path / "csv", tmp_path / "g.graphml")
    assert done.exit_code == 0
    assert "nodes          76" in done.output
    assert load_graph(tmp_path / "g.graphml").digest == load_graph("example").digest


def test_undirected_edges_are_read_both_ways_by_choice(tmp_path: Path) -> None:
    nx.write_graphml_xml(nx.karate_club_graph(), tmp_path / "karate.graphml")
    words = ("graph", tmp_path / "karate.graphml", tmp_path / "g.json")
    assert export(*words).exit_code != 0
    assert export(*words, "--undirected", "both").exit_code == 0
    assert load_graph(tmp_path / "g.json").relationship_count == 156


@pytest.mark.neo4j
async def test_a_database_is_written_to_every_format(
    neo4j_server: Variables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in neo4j_server.values.items():
        monkeypatch.setenv(name, value)
    content = (
        "CREATE (a:CtOne:`Ct two words` {name: 'Søren Ångström', born: date('1815-12-10'), `home town`: 'São Paulo', "
        "at: point({longitude: 12.5, latitude: 55.7}), took: duration('P1DT2H'), tags: ['a', 'b c'], n: 2.5, ok: true, "
        "seen: datetime('2001-04-25T12:00:00+02:00[Europe/Berlin]'), days: [date('2001-04-25')]})"
        "-[:`CT KNOWS` {since: localtime('10:00'), notes: ['x']}]->(:CtOne {large: 9007199254740993})"
    )
    async with await connect(neo4j_server) as connection:
        await connection.write(content)
        try:
            for target in ("g.json", "g.graphml", "csv"):
                words = ("export", "graph", "--database", "neo4j", "--labels", "CtOne", target)
                done = await asyncio.to_thread(graphwalk, *words, folder=tmp_path, **neo4j_server.values)
                assert (done.returncode, done.stdout.split()) == (0, ["nodes", "2", "relationships", "1"]), done.stderr
        finally:
            await connection.write("MATCH (n:CtOne) DETACH DELETE n")
    graphs = [load_graph(tmp_path / target) for target in ("g.json", "g.graphml", "csv")]
    assert len({graph.digest for graph in graphs}) == 1
    (person,) = (node for node in graphs[0].nodes() if "name" in node.properties)
    assert person.labels == ("Ct two words", "CtOne")
    assert person.properties["took"] == Temporal("duration", "P1DT2H")
    assert person.properties["days"] == (Temporal("date", "2001-04-25"),)
    (knows,) = graphs[0].relationships()
    assert (knows.type, knows.properties["since"]) == ("CT KNOWS", Temporal("local time", "10:00:00"))


def test_plain_csv_of_nodes_and_edges(tmp_path: Path) -> None:
    nodes, edges = tmp_path / "nodes.csv", tmp_path / "edges.csv"
    nodes.write_text("id,label,name\n1,Person,Ida\n2,City,Riga\n")
    edges.write_text("source,target,type\n1,2,LIVES_IN\n")
    result = graphwalk("export", "graph", "nodes.csv", "g.json", "--edges", "edges.csv", folder=tmp_path)
    assert "nodes.csv: read as 2 nodes (Person 1, City 1) and 1 relationship (LIVES_IN 1)" in result.stderr
    assert load_graph(tmp_path / "g.json").relationship_count == 1
