"""`graphwalk generate … --count N`: rows of graphs, mazes and traces, and the chats of players that walk them."""

import json
from asyncio import run
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from graphwalk.cli.app import app
from graphwalk.graphs.files import load_graph
from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.runs.experiment import load_experiment
from graphwalk.suites.loaded_graph import LoadedGraph
from graphwalk.suites.magma.algorithms import ALGORITHMS
from graphwalk.suites.magma.answers import read_states
from graphwalk.suites.magma.suite import MagmaSuite
from graphwalk.suites.mazes.generate import MazeSpec, generate_maze
from graphwalk.training.traces import TraceOptions, export_traces
from tests.training.recorded_runs import MAGMA, MAZES, QUESTIONS, lines, recorded


def generate(*words: object) -> Any:
    return CliRunner().invoke(app, ["generate", *map(str, words)])


def test_a_row_of_a_graph_is_its_json_file(tmp_path: Path) -> None:
    out = tmp_path / "graphs.jsonl"
    result = generate("graph", "--nodes", 30, "--seed", 4, "--index", 2, "--count", 3, "--out", out)
    assert result.exit_code == 0
    rows = out.read_text().splitlines()
    for index, row in enumerate(rows, start=2):
        (tmp_path / "one.json").write_text(row)
        assert load_graph(tmp_path / "one.json").digest == generate_graph(GraphSpec(nodes=30), 4, index).digest
    assert len(rows) == 3
    assert "3 graphs written" in result.output
    one = generate("graph", "--nodes", 30, "--count", 1, "--out", tmp_path / "one.jsonl")
    assert "1 graph written" in one.output
    fields = generate("graph", "--nodes", 60, "-o", "hops=2", "--out", tmp_path / "one.json")
    assert fields.exit_code == 0
    assert load_graph(tmp_path / "one.json").spec["hops"] == 2


@pytest.mark.parametrize(("protocol", "strategy"), [("paper", "is"), ("graphwalk", "io_reasoning")])
def test_chats_of_magma_have_the_prompts_of_a_run_and_right_answers(
    tmp_path: Path, protocol: str, strategy: str
) -> None:
    out, again = tmp_path / "chats.jsonl", tmp_path / "again.jsonl"
    words = ("--nodes", 6, "--count", 2, "--seed", 4, "--strategy", strategy, "--protocol", protocol)
    for path in (out, again):
        assert generate("magma", *words, "--out", path).exit_code == 0
    assert out.read_bytes() == again.read_bytes()
    traces = [{"algorithm": list(ALGORITHMS), "nodes": 6, "count": 2, "split": "train"}]
    config = load_experiment({"name": "run", "protocol": protocol, "suite": {"name": "magma", "traces": traces}})
    suite = MagmaSuite()
    chats = []
    for instance in suite.graphs(config.suite, 4):
        about = LoadedGraph(instance)
        task = run(suite.tasks(about, config.suite, 4, config.agent)).asked[-1]
        prompt = run(task.prompt(about, strategy, config.agent)).messages
        chats.append([{"role": one.role, "content": one.content} for one in prompt])
    written = [line["messages"] for line in lines(out)]
    assert sorted(map(str, chats)) == sorted(str(chat[:-1]) for chat in written)
    assert [chat[:-1] for chat in written] != chats  # shuffled
    first, *_ = suite.graphs(config.suite, 4)
    chat = next(chat for chat in written if str(chat[:-1]) == str(chats[0]))
    assert read_states("bfs", chat[-1]["content"]).answer == first.source.states[first.source.last].answer


def test_a_row_of_a_maze_is_its_json(tmp_path: Path) -> None:
    out = tmp_path / "mazes.jsonl"
    assert generate("maze", "--count", 4, "--index", 2, "--seed", 1, "--out", out).exit_code == 0
    assert lines(out) == [generate_maze(MazeSpec(), 1, index).as_json() for index in range(2, 6)]


@pytest.mark.parametrize(
    "suite",
    [QUESTIONS, *(pytest.param(suite, marks=pytest.mark.extended) for suite in (MAZES, MAGMA))],
    ids=lambda suite: str(suite["name"]),
)
def test_chats_are_those_of_a_run(tmp_path: Path, suite: dict[str, Any]) -> None:
    settings = ["io", "is"] if suite["name"] == "magma" else ["tools"]
    experiment = tmp_path / "one.yaml"
    experiment.write_text(json.dumps({"name": "traces", "suite": suite, "seed": 7, "settings": settings}))
    out = tmp_path / "chats.jsonl"
    result = generate("traces", experiment, "--graphs", 2, "--out", out)
    assert result.exit_code == 0, result.output

    field = {"questions": "graphs", "mazes": "mazes", "magma": "traces"}[suite["name"]]
    two_graphs = [{**entry, "count": 2} for entry in suite[field]]
    played = run(recorded(tmp_path / "run", {**suite, field: two_graphs}, seed=7, settings=settings))
    export_traces([played], tmp_path / "run.jsonl", TraceOptions(correct=True))
    chats = lines(out)
    assert sorted(map(json.dumps, chats)) == sorted(map(json.dumps, lines(tmp_path / "run.jsonl")))
    assert len(chats) >= 2
