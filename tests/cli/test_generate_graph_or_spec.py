"""Graphs that are named by what to generate."""

from pathlib import Path

import pytest

from graphwalk.cli.generate import generated, read_graph_or_spec
from graphwalk.errors import ConfigError
from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.settings import Settings


def test_a_preset_and_fields() -> None:
    preset = read_graph_or_spec(Path("paper-100"), Settings())
    assert preset.digest == generate_graph(GraphSpec(preset="paper-100"), 0, 0).digest
    fields = generated("nodes=200, mean_degree=5,self_loops=true,seed=7,index=2")
    assert fields.digest == generate_graph(GraphSpec(nodes=200, mean_degree=5, self_loops=True), 7, 2).digest


def test_a_file_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("nodes=5.json").write_text("{")
    with pytest.raises(ConfigError, match=r"nodes=5\.json"):
        read_graph_or_spec(Path("nodes=5.json"), Settings())


@pytest.mark.parametrize(
    ("words", "message"),
    [("nodez=5", "nodez"), ("nodes=many", "nodes"), ("seed=x,nodes=10", "whole numbers"), ("paper-9=,", "paper-9")],
)
def test_wrong_specs_are_errors(words: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        generated(words)
