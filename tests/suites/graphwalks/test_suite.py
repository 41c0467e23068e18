"""The suite `graphwalks`: files of the data set, bad rows, both targets, agents, and a run with a server."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars
import pytest

import graphwalk
from graphwalk.analysis.verify import verify_run
from graphwalk.config.agent import AgentConfig
from graphwalk.errors import ConfigError, OracleError
from graphwalk.graphs.graph import PropertyGraph
from graphwalk.runs.experiment import load_experiment
from graphwalk.runs.folder import RunFolder
from graphwalk.runs.plan import Plan, make_plan
from graphwalk.runs.resolve import ResolvedExperiment, resolve
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.open import OpenGraphs
from graphwalk.suites.graphwalks.suite import GraphwalksConfig, GraphwalksSuite, Problem, ProblemSpec
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.variables import Variables
from tests.suites.graphwalks.rows import EDGES, GOLD, PARENTS, ROWS, prompt_of, row


def written(folder: Path, rows: list[dict[str, Any]], ending: str = "jsonl") -> Path:
    path = folder / f"rows.{ending}"
    if ending == "jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    else:
        polars.DataFrame(rows).write_parquet(path)
    return path


def experiment_on(suite: Mapping[str, Any], **fields: Any) -> ResolvedExperiment:
    return resolve(
        load_experiment({"name": "t", "suite": {"name": "graphwalks", **suite}, **fields}), Variables(), keys=False
    )


async def planned(suite: Mapping[str, Any], **fields: Any) -> Plan:
    return await make_plan(experiment_on(suite, **fields), OpenGraphs(Variables()), lambda tasks: None)


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
async def test_rows_of_both_wordings_and_files_are_read_and_answered(tmp_path: Path, ending: str) -> None:
    plan = await planned({"file": str(written(tmp_path, ROWS, ending))})
    assert [task.target for task, _ in plan.tasks] == GOLD
    assert [task.prompt_chars for task, _ in plan.tasks] == [len(row["prompt"]) for row in ROWS]
    assert len({task.task_id for task, _ in plan.tasks}) == len(ROWS)


async def test_published_targets_that_differ_are_counted_named_and_scored(tmp_path: Path) -> None:
    path = str(written(tmp_path, ROWS))
    plan = await planned({"file": path})
    assert next(plan.notes()) == "Row 3: the target differs from the file's; both are scored."
    run = await graphwalk.arun({"name": "t", "suite": {"name": "graphwalks", "file": path}}, out=tmp_path / "run")
    scores = {(row["model"], row["graph_row"]): row for row in run.records()}
    assert (scores["scripted/expert", 3]["correct"], scores["scripted/expert", 3]["published_f1"]) == (True, 2 / 3)
    verification = await verify_run(RunFolder.open(tmp_path / "run"), Variables())
    assert verification.holds


BAD: list[tuple[dict[str, Any] | str, str]] = [
    ("{", "not JSON"),
    (row("parents", PARENTS.format("b1"), [], answer_nodes=None), "missing column answer_nodes"),
    (row("parents", PARENTS.format("b1"), [], answer_nodes="a0"), "Input should be a valid list"),
    (row("bfs", PARENTS.format("b1"), []), "its prompt is not understood"),
    (
        row("parents", "", [], prompt=prompt_of(PARENTS.format("b1"), [*EDGES, ("a0", "")])),
        "its prompt is not understood",
    ),
]


@pytest.mark.parametrize(("line", "reason"), BAD)
async def test_a_bad_row_is_named(tmp_path: Path, line: dict[str, Any] | str, reason: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join([json.dumps(ROWS[0]), line if isinstance(line, str) else json.dumps(line)]))
    with pytest.raises(ConfigError, match=r"(?s)rows\.jsonl: row 2: .*" + re.escape(reason)):
        await planned({"file": str(path)})


@pytest.mark.parametrize(
    ("suite", "message"),
    [
        ({"file": "{folder}"}, "expected a .jsonl or .parquet file"),
        ({"file": "{rows}", "max_chars": 10}, "no row is left"),
        ({"problems": [{"operations": ["dfs"]}]}, "suite.problems"),
    ],
)
async def test_wrong_configurations_are_refused(tmp_path: Path, suite: dict[str, Any], message: str) -> None:
    names = {"{rows}": str(written(tmp_path, ROWS)), "{folder}": str(tmp_path)}
    with pytest.raises(ConfigError, match=message):
        await planned({name: names.get(str(value), value) for name, value in suite.items()})


async def test_without_tools_the_prompt_of_a_row_is_sent_as_it_is(tmp_path: Path) -> None:
    experiment = experiment_on({"file": str(written(tmp_path, ROWS))}, settings=["no_tools"], models=["openai-api/x/y"])
    experiment_plan = await make_plan(experiment, OpenGraphs(Variables()), lambda tasks: None)
    for planned_episode, record in zip(experiment_plan.episodes, ROWS, strict=True):
        (message,) = (await planned_episode.prompt(experiment)).messages
        assert (message.role, message.content) == ("user", record["prompt"])


async def test_generated_prompts_have_all_edges_and_none_with_tools() -> None:
    _, about, tasks = await prepared(ProblemSpec(nodes=12, out_degree=2))
    for task in tasks:
        (whole,) = (await task.prompt(about, "no_tools", AgentConfig())).messages
        system, question = (await task.prompt(about, "tools", AgentConfig())).messages
        lines = [line for line in (whole.content or "").splitlines() if " -> " in line]
        assert lines[1:] == [f"{source} -> {target}" for source, target in about.graph.edges()]
        assert task.question in (whole.content or "")
        assert question.content == task.question
        assert " -> " not in f"{system.content}{question.content}"
        assert str(task.parameters["node"]) in task.question


async def prepared(spec: ProblemSpec) -> Any:
    suite, config = GraphwalksSuite(), GraphwalksConfig(problems=(spec,))
    (instance,) = suite.graphs(config, 0)
    assert instance.graph is not None
    about = LoadedGraph(instance, await EmbeddedDatabase().load(instance.graph))
    return suite, about, (await suite.tasks(about, config, 0, AgentConfig())).asked


@pytest.mark.parametrize("change", [lambda keys: keys[1:], lambda keys: [*keys, "a0"]])
async def test_a_store_that_finds_other_nodes_stops_the_run(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[list[str]], list[str]]
) -> None:
    graph = PropertyGraph.from_edges(EDGES, "Node", "EDGE")
    store = await EmbeddedDatabase().load(graph)
    monkeypatch.setattr("graphwalk.suites.graphwalks.suite.answer_of", lambda *of: change(["d3"]))
    instance = GraphInstance.of(graph, [Problem("bfs", "a0", 2)], {"entry": 0, "index": 0})
    with pytest.raises(OracleError, match=r"Cypher \(embedded\) finds other nodes than the evaluator"):
        await GraphwalksSuite().tasks(LoadedGraph(instance, store), GraphwalksConfig(), 0, AgentConfig())
