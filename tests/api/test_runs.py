"""The public functions in a notebook: graphs, tasks, stores, episodes and runs, with and without a running event loop."""

import asyncio
import csv
import io
import json
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

import graphwalk
from graphwalk import CallOptions, Message, PropertyGraph, Reply, ToolCall, ToolSpec, Usage
from graphwalk.suites.questions.catalogue import choose_kinds


class Thinker:
    """Makes one call, then answers with nothing."""

    name = "mine/thinker"

    def __init__(self) -> None:
        self.threads: set[int] = set()
        self.closed = False

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        self.threads.add(threading.get_ident())
        await asyncio.sleep(0)
        if messages[-1].role == "tool":
            return Reply(Message("assistant", "[]"), Usage(10, 1))
        return Reply(Message("assistant", "hm", (ToolCall("1", "think", '{"thought": "hm"}'),)), Usage(10, 5))

    async def close(self) -> None:
        self.closed = True


@pytest.fixture(scope="module")
def graph() -> PropertyGraph:
    return graphwalk.generate_graph("paper-100", seed=7)


def test_graphs_are_made_written_and_read(tmp_path: Path, graph: PropertyGraph) -> None:
    assert graph.digest == graphwalk.generate_graph("paper-100", seed=7).digest
    assert graph.digest != graphwalk.generate_graph("paper-100", seed=7, index=1).digest
    assert graphwalk.generate_graph(nodes=30, labels=2).node_count == 30
    for suffix in ("json", "graphml"):
        graphwalk.write_graph(graph, tmp_path / f"g.{suffix}")
        assert graphwalk.read_graph(tmp_path / f"g.{suffix}").digest == graph.digest
    assert graphwalk.from_networkx(graphwalk.to_networkx(graph)).digest == graph.digest
    small = nx.DiGraph()
    small.add_edge("a", "b", type="KNOWS")
    assert graphwalk.from_networkx(small).relationship_count == 1


def test_tasks_have_proven_answers(graph: PropertyGraph) -> None:
    tasks = graphwalk.make_tasks(graph, seed=7)
    assert [task.template for task in tasks] == [kind.name for kind in choose_kinds()]
    assert tasks == graphwalk.make_tasks(graph, seed=7)
    (task,) = graphwalk.make_tasks(graph, questions=["node_count"])
    with graphwalk.open_store(graph) as store:
        assert store.run(task.cypher, task.cypher_parameters) == task.target


def test_a_store_answers_cypher(graph: PropertyGraph) -> None:
    store = graphwalk.open_store(graph)
    assert store.run("MATCH (n{{ any_node }}) RETURN count(n) AS n") == [{"n": 100}]
    assert store.run("MATCH (n) WHERE n.key = $key RETURN n.key AS k", {"key": "nobody"}) == []
    assert len(store.schema().nodes) == len({node.label for node in graph.nodes()})
    with pytest.raises(graphwalk.StoreError, match="refused"):
        store.run("MATCH (n")
    store.close()


def test_an_episode_with_any_model(graph: PropertyGraph) -> None:
    task = graphwalk.make_tasks(graph, seed=7, questions=["node_count"])[0]
    result = graphwalk.play(task, graph, model="scripted/expert")
    assert (result.answer, result.score and result.score["correct"]) == (task.target, True)
    model = Thinker()
    result = graphwalk.play(task, graph, model=model, turn_limit=5)
    assert [len(turn.results) for turn in result.trajectory.turns] == [1, 0]
    assert (result.key.model, result.answer, result.usage.input_tokens) == ("mine/thinker", [], 20)
    assert not model.closed


def test_model_failure_is_in_the_result(graph: PropertyGraph) -> None:
    class Sick:
        async def complete(self, *ignored: Any) -> Reply:
            raise ValueError("ill")

    task = graphwalk.make_tasks(graph, questions=["node_count"])[0]
    result = graphwalk.play(task, graph, model=Sick())
    assert result.score is None
    assert result.trajectory.error == "python/Sick failed: ValueError: ill"


async def test_all_of_it_works_inside_a_running_loop(tmp_path: Path, graph: PropertyGraph) -> None:
    """As in a notebook: the short forms work in a thread of their own, the others in the caller's."""
    (task,) = graphwalk.make_tasks(graph, questions=["node_count"])
    assert (task,) == tuple(await graphwalk.amake_tasks(graph, questions=["node_count"]))
    elsewhere, here = Thinker(), Thinker()
    graphwalk.play(task, graph, model=elsewhere)
    await graphwalk.aplay(task, graph, model=here)
    assert here.threads == {threading.get_ident()}
    assert not elsewhere.threads & here.threads
    run = graphwalk.run("quickstart", models=[elsewhere], graphs=1, limit=1, out=tmp_path / "sync")
    again = await graphwalk.arun("quickstart", models=[here], graphs=1, limit=1, out=tmp_path / "async")
    assert [r["answer"] for r in run.records()] == [r["answer"] for r in again.records()] == [[]]


def test_a_run_and_its_records(tmp_path: Path) -> None:
    seen: list[graphwalk.Result] = []
    run = graphwalk.run(
        "quickstart",
        models=[Thinker(), "scripted/expert"],
        out=tmp_path / "run",
        graphs=1,
        on_result=seen.append,
        agent={"turn_limit": 40},
    )
    records = run.records()
    assert len(records) == len(seen) == 2 * len(choose_kinds())
    assert all(list(record) == list(records[0]) for record in records)
    right = {
        model: sum(r["correct"] for r in records if r["model"] == model)
        for model in ("mine/thinker", "scripted/expert")
    }
    assert right == {"mine/thinker": 0, "scripted/expert": len(choose_kinds())}
    assert {r["usage_input_tokens"] for r in records if r["model"] == "mine/thinker"} == {20}
    assert {r["graph_nodes"] for r in records} == {100}
    assert {r["task_template"] for r in records} == {kind.name for kind in choose_kinds()}
    assert json.loads((run.path / "run.json").read_text())["config"]["agent"]["turn_limit"] == 40
    assert {result.key for result in run.results()} == {result.key for result in seen}


def test_a_run_reports(tmp_path: Path) -> None:
    made = graphwalk.run("quickstart", out=tmp_path / "run", graphs=1, limit=3)
    run = graphwalk.open_run(str(made.path))
    assert run == made
    assert [row["model"] for row in run.report()["rows"]] == ["scripted/expert", "scripted/flawed", "scripted/random"]
    first = run.report()["rows"][0]
    assert (first["accuracy"], first["tasks"], first["graphs"]) == (100.0, 3, 1)
    assert "scripted/expert" in run.text()
    assert "| scripted/expert | tools |" in run.text("markdown")
    assert json.loads(run.text("json")) == json.loads(json.dumps(run.report()))
    assert len(list(csv.DictReader(io.StringIO(run.text("csv"))))) > 3
    assert run.rescore() == 0


def test_a_run_is_printed_compared_and_plotted() -> None:
    run = graphwalk.open_run(Path(__file__).parents[1] / "data" / "runs" / "questions")
    verdict, *_ = run.report()["verdict"]
    assert str(run).startswith(verdict[:60])
    assert "Results\n" in str(run)
    assert "By category" not in str(run)
    text = run._repr_markdown_()
    assert text.startswith(verdict[:40].replace("_", "\\_"))
    assert text.count("###") == 1
    assert "| scripted/expert |" in text
    (pair,) = graphwalk.compare(run)["overall"]
    assert (pair["first_model"], pair["second_model"]) == ("scripted/expert", "scripted/flawed")
    assert pair["measures"]["accuracy"]["difference"] == pytest.approx(66.67, abs=0.01)
    assert run.plot().axes
    with pytest.raises(graphwalk.ConfigError, match="has no plot 'x'\n  try: one of: accuracy-by-model"):
        run.plot("x")


def test_models_can_be_named_after_the_run() -> None:
    run = graphwalk.open_run(Path(__file__).parents[1] / "data" / "runs" / "questions")
    names = {"scripted/expert": "the best", "scripted/flawed": "the weak"}
    assert [row["model"] for row in run.report(names=names)["rows"]][:2] == ["the best", "the weak"]
    assert "the weak" in run.text("latex", names=names)
    assert "the best" in {text.get_text() for text in run.plot(names=names).axes[0].get_yticklabels()} | {
        text.get_text() for legend in run.plot(names=names).legends for text in legend.get_texts()
    }
    (pair,) = run.compare(names=names)["overall"]
    assert pair["first_model"] == "the best"
    with pytest.raises(graphwalk.ConfigError, match="no model 'x/y' to name"):
        run.text(names={"x/y": "z"})


def test_a_run_is_a_data_frame_whatever_the_answers_are() -> None:
    run = graphwalk.open_run(Path(__file__).parents[1] / "data" / "runs" / "questions")
    frame = run.to_polars()
    assert frame.height == len(run.records())
    answers = [record["answer"] for record in run.records()]
    assert [None if text is None else json.loads(text) for text in frame["answer"]] == answers
    assert frame["correct"].sum() == sum(record["correct"] for record in run.records())


def test_the_text_of_a_run_is_returned_in_a_notebook_too(monkeypatch: pytest.MonkeyPatch) -> None:
    run = graphwalk.open_run(Path(__file__).parents[1] / "data" / "runs" / "questions")
    outside = run.text()
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert run.text() == outside
    assert str(run).startswith(outside[:60])


def test_a_notebook_shows_graph_task_and_result_as_tables_with_escaped_text() -> None:
    graph = graphwalk.generate_graph("paper-100", seed=7)
    task = graphwalk.make_tasks(graph, seed=7, questions=["node_count"])[0]
    result = graphwalk.play(task, graph, model="scripted/expert")
    for shown, text in ((graph, "100 nodes"), (task, "node_count"), (result, "correct, ")):
        table = shown._repr_html_()
        assert text in table
        assert table.count("<tr>") == table.count("</tr>") >= 3
    hostile = task.model_copy(update={"question": "<script>alert(1)</script>\nHow many?"})
    assert "&lt;script&gt;alert(1)&lt;/script&gt;<br>How many?" in hostile._repr_html_()


def test_an_experiment_can_be_a_dictionary_or_a_file(tmp_path: Path) -> None:
    data = {
        "name": "mine",
        "suite": {"name": "mazes", "mazes": [{"size": 5, "min_path": 4}]},
        "models": ["scripted/expert"],
    }
    run = graphwalk.run(data, out=tmp_path / "a")
    (tmp_path / "mine.yaml").write_text(json.dumps(data))
    same = graphwalk.run(tmp_path / "mine.yaml", out=tmp_path / "b")
    assert run.records()[0]["correct"] is True
    assert [r["task_id"] for r in run.records()] == [r["task_id"] for r in same.records()]
    assert data["suite"] == {"name": "mazes", "mazes": [{"size": 5, "min_path": 4}]}


def test_interrupted_run_resumes_with_the_same_objects(tmp_path: Path) -> None:
    model = Thinker()
    run = graphwalk.run("quickstart", models=[model], out=tmp_path / "run", graphs=1)
    log = run.path / "results.jsonl"
    log.write_bytes(b"".join((run.path / "results.jsonl").read_bytes().splitlines(keepends=True)[:4]))
    with pytest.raises(graphwalk.ConfigError, match="unknown provider 'mine'"):
        run.resume()
    assert len(run.resume(models=[model]).records()) == len(choose_kinds())


@pytest.mark.timeout(60)
@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt])
def test_an_exit_in_the_callers_code_reaches_the_caller(
    tmp_path: Path, graph: PropertyGraph, error: type[BaseException]
) -> None:
    """asyncio ends the loop with SystemExit and KeyboardInterrupt; the loop of later calls must continue."""

    def fail(*ignored: Any) -> Any:
        raise error("mine")

    class Failing:
        async def complete(self, *ignored: Any) -> Reply:
            return fail()  # type: ignore[no-any-return]

    (task,) = graphwalk.make_tasks(graph, questions=["node_count"])
    for call in (
        lambda: graphwalk.play(task, graph, model=Failing()),
        lambda: graphwalk.ask("How many?", graph, model=Failing()),
        lambda: graphwalk.run("quickstart", models=[Failing()], graphs=1, limit=2, out=tmp_path / "model"),
        lambda: graphwalk.run("quickstart", graphs=1, limit=2, on_result=fail, out=tmp_path / "callback"),
    ):
        with pytest.raises(error, match="mine"):
            call()
    assert graphwalk.play(task, graph, model="scripted/expert").answer == task.target


MISTAKES: dict[str, tuple[Callable[[Any, Any], object], str]] = {
    "field": (lambda g, t: graphwalk.run("quickstart", agnt={"x": 1}), "did you mean agent"),
    "class": (lambda g, t: graphwalk.run("quickstart", models=[Thinker]), "Thinker is not a model"),
    "no model": (lambda g, t: graphwalk.play(t, g), "NoneType is not a model"),
    "other graph": (
        lambda g, t: graphwalk.play(t, graphwalk.generate_graph(seed=3), model="scripted/expert"),
        "is not about this graph",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_a_config_error(
    mistake: str, graph: PropertyGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    call, message = MISTAKES[mistake]
    task = graphwalk.make_tasks(graph, questions=["node_count"])[0]
    with pytest.raises(graphwalk.ConfigError, match=message) as caught:
        call(graph, task)
    assert "provider/model" in caught.value.hint or "NoneType is not a model" not in message
    assert not list(tmp_path.iterdir())
