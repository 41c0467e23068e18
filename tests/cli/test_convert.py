from pathlib import Path

import networkx as nx
from typer.testing import CliRunner

from graphwalk.cli.app import app
from graphwalk.graphs.files import load_graph

CLI = CliRunner()


def test_from_one_form_into_another(tmp_path: Path) -> None:
    assert CLI.invoke(app, ["convert", "example", str(tmp_path / "csv")]).exit_code == 0
    done = CLI.invoke(app, ["convert", str(tmp_path / "csv"), str(tmp_path / "g.graphml")])
    assert done.exit_code == 0
    assert "nodes          76" in done.output
    assert load_graph(tmp_path / "g.graphml").digest == load_graph("example").digest


def test_undirected_edges_are_read_both_ways_by_choice(tmp_path: Path) -> None:
    nx.write_graphml_xml(nx.karate_club_graph(), tmp_path / "karate.graphml")
    words = ["convert", str(tmp_path / "karate.graphml"), str(tmp_path / "g.json")]
    assert CLI.invoke(app, words).exit_code != 0
    assert CLI.invoke(app, [*words, "--undirected", "both"]).exit_code == 0
    assert load_graph(tmp_path / "g.json").relationship_count == 156
