"""The packages for verifiers and inspect_ai, traces in TRL, and data sets in `datasets`, by those projects' own programs; their pins differ from ours, so that each is
looked for in an environment of its own: `make environments` sets them up.
"""

import asyncio
import json
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import graphwalk
from graphwalk.agent.conversation import Conversation
from graphwalk.runs.experiment import load_experiment
from graphwalk.training.traces import TraceOptions, export_traces
from tests.models.server import Answer, ModelServer, chat, stream
from tests.training.recorded_runs import MAZES, QUESTIONS, recorded

ROOT = Path(__file__).parents[2]
REPLAYED: dict[str, Any] = {
    "questions": {"suite": {"graphs": [{"nodes": 20}]}, "agent": {"turn_limit": 6}},
    "mazes": {"suite": {"mazes": [{"size": 5, "min_path": 4, "count": 8}]}, "agent": {"turn_limit": 8}},
    "magma": {
        "suite": {"traces": [{"algorithm": ["bfs", "dijkstra"], "nodes": 5, "count": 4}]},
        "settings": ["is"],
    },
}
REPLAYED["questions with levers"] = {
    "suite": {"graphs": [{"nodes": 20}]},
    "agent": {"turn_limit": 6, "names_in_tools": 200, "answer": "tool", "nudges": 2, "tool_choice": "required"},
}
REPLAYED["questions with limits"] = {
    "suite": {"graphs": [{"nodes": 20}]},
    "agent": {
        "turn_limit": 8,
        "call_limit": 6,
        "max_calls_per_turn": 1,
        "compaction": "window",
        "compaction_window": 1,
    },
}
AGENTS = ("scripted/expert", "scripted/flawed")
"""A good and a bad scripted agent."""


def python_of(name: str) -> Path:
    """The Python with that project's packages; skips where there is none."""
    path = Path(os.environ.get(f"GRAPHWALK_{name.upper()}_VENV", ROOT / f".venv-{name}")) / "bin" / "python"
    if not path.exists():
        pytest.skip(f"no {path.parent.parent}: make environments")
    return path


def evaluator_of_verifiers() -> Path:
    """The folder of `vf-eval`; skips with verifiers 0.4.1, which has none."""
    binaries = python_of("verifiers").parent
    if not (binaries / "vf-eval").exists():
        pytest.skip("this verifiers has no vf-eval")
    return binaries


def commands(package: str) -> list[list[str]]:
    """Return the commands of an environment's README."""
    text = (ROOT / "environments" / package / "README.md").read_text("utf-8")
    return [shlex.split(line, comments=True) for line in re.findall(r"^\$ (.+)$", text, re.MULTILINE)]


def environment(package: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'environments' / package}", "HOME": "/nonexistent"}


@pytest.mark.slow
async def test_the_commands_for_verifiers_validate_and_play_on_this_machine(tmp_path: Path) -> None:
    binaries = evaluator_of_verifiers()
    path = f"{binaries}:{os.environ['PATH']}"
    env = {**os.environ, "HOME": str(tmp_path), "PATH": path, "LOCAL_API_KEY": "no-secret"}

    async def run(*words: str) -> str:
        done = await asyncio.to_thread(
            subprocess.run, words, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=900
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    _, validate, evaluate = commands("verifiers")
    output = await run(*validate)
    (summary,) = tmp_path.rglob("summary.json")  # noqa: ASYNC240 -- nothing else runs
    assert json.loads(summary.read_text())["valid_rate"] == 1.0, output
    async with ModelServer(think_and_answer) as server:
        values = {"URL": server.url, "NAME": "LOCAL_API_KEY", "MODEL": "m"}
        output = await run(*(values.get(word, word) for word in evaluate))
        assert {request.headers["authorization"] for request in server.requests} == {"Bearer no-secret"}
    (log,) = tmp_path.rglob("traces.jsonl")  # noqa: ASYNC240 -- nothing else runs
    traces = [trace for line in log.read_text().splitlines() for trace in json.loads(line)["traces"]]
    assert len(traces) == int(evaluate[evaluate.index("-n") + 1])
    for trace in traces:
        assert trace["ok"], output
        assert (trace["agent"]["runtime"]["type"], trace["metrics"]["exact"]) == ("subprocess", 0)
        assert "graphwalk" in trace["rewards"]
        assert (trace["info"]["step_rewards"], trace["metrics"]["steps"]) == ([0, 0], 0)


def think_and_answer(request: Any) -> Answer:
    """Stream a call of `think`, and an empty answer after its result."""
    called = request.body["messages"][-1]["role"] == "tool"
    return streamed(chat("[]") if called else chat(calls=[("think", {"thought": "An empty list."})]))


def streamed(body: dict[str, Any]) -> Answer:
    (choice,) = body["choices"]
    delta = choice.pop("message")
    delta["tool_calls"] = [{"index": i, **call} for i, call in enumerate(delta.get("tool_calls", ()))]
    return stream({**body, "object": "chat.completion.chunk", "choices": [{**choice, "delta": delta}]})


@pytest.mark.slow
@pytest.mark.parametrize("case", REPLAYED)
async def test_inspect_eval_gives_the_scores_of_a_run_with_the_same_replies(tmp_path: Path, case: str) -> None:
    inspect, path, task = python_of("inspect").with_name("inspect"), tmp_path / "experiment.yaml", case.split()[0]
    fields = {"name": task.replace("_", "-"), "settings": ["tools"], **REPLAYED[case]}
    path.write_text(json.dumps({**fields, "suite": {"name": task, **fields["suite"]}}))
    (setting,) = fields["settings"]
    replies = await scripted_replies(path, tmp_path / "scripted")
    async with ModelServer(lambda request: Answer(replies[conversation(request.body["messages"])])) as server:
        run = await graphwalk.arun(
            path, models=["openai-api/local/m"], servers={"local": server.url}, out=tmp_path / "run"
        )
        sent, server.requests = server.requests, []
        arguments = ["-T", f"experiment={path}", "-T", f"setting={setting}", "--model", "openai-api/local/m"]
        plain = ["--log-format", "json", "--display", "plain"]
        done = await asyncio.to_thread(
            subprocess.run,
            [inspect, "eval", f"graphwalk_inspect/{task}", *arguments, "--log-dir", tmp_path / "logs", *plain],
            env={**os.environ, "HOME": str(tmp_path), "LOCAL_BASE_URL": server.url, "LOCAL_API_KEY": "no-secret"},
            capture_output=True,
            text=True,
            timeout=280,
        )
    logs = [*(tmp_path / "logs").glob("*.json")]
    assert logs, done.stdout + done.stderr
    log = json.loads(logs[0].read_text())
    assert log["status"] == "success", log.get("error") or done.stdout + done.stderr
    samples = {sample["id"]: sample for sample in log["samples"]}
    assert Counter(map(wire, server.requests)) == Counter(map(wire, sent))
    results = list(run.results())
    assert samples.keys() == {result.key.task_id for result in results}
    assert len(results) >= 8
    assert {result.score["correct"] for result in results if result.score} == {True, False}
    for result in results:
        score = samples[result.key.task_id]["scores"]["graphwalk"]
        assert json.loads(score["answer"]) == result.answer
        assert result.score is not None
        assert score["metadata"] == result.score
        grounded = result.score["grounded"]
        assert score["value"]["grounded"] == grounded or grounded is None
    (correct,) = (one for one in log["results"]["scores"] if one["name"] == "correct")
    assert correct["metrics"]["mean"]["value"] == pytest.approx(
        sum(result.score["correct"] for result in results) / len(results)
    )


async def scripted_replies(experiment: Path, out: Path) -> dict[str, Any]:
    """Return what scripted agents, in turn, reply to each conversation."""
    config, replies = load_experiment(str(experiment)), {}
    agent = config.agent
    run = await graphwalk.arun(experiment, models=AGENTS, out=out)
    tasks = sorted({result.key.task_id for result in run.results()})
    for result in run.results():
        if result.key.model != AGENTS[tasks.index(result.key.task_id) % len(AGENTS)]:
            continue
        for number, turn in enumerate(result.trajectory.turns):
            messages = Conversation.before_turn(number, result.trajectory, agent).request().messages
            calls = [(call.name, call.arguments) for call in turn.message.tool_calls]
            replies[conversation([m.as_openai() for m in messages])] = chat(turn.message.content, calls)
    return replies


def conversation(messages: Sequence[Any]) -> str:
    """Return what a model reads in the messages of a request."""
    return json.dumps(
        [
            (
                message["role"],
                message.get("content") or "",
                [
                    (call["function"]["name"], json.loads(call["function"]["arguments"]))
                    for call in message.get("tool_calls") or ()
                ],
            )
            for message in messages
        ]
    )


def wire(request: Any) -> tuple[str, str, str]:
    """Return messages, tools and choice of tools of a request. The schemas of inspect_ai have no `minimum`."""
    functions = [tool["function"] for tool in request.body.get("tools") or ()]
    for function in functions:
        function["parameters"].get("properties", {}).get("page", {}).pop("minimum", None)
    tools = [(f["name"], f["description"], f["parameters"]) for f in functions]
    choice = str(request.body.get("tool_choice") or "auto")
    return conversation(request.body["messages"]), json.dumps(tools, sort_keys=True), choice


LOAD = """
import json, sys, datasets
from huggingface_hub import DatasetCard
folder = sys.argv[1]
splits = {name: datasets.load_dataset(folder, name) for name in datasets.get_dataset_config_names(folder)}
rows = {name: {split: data.num_rows for split, data in loaded.items()} for name, loaded in splits.items()}
card = DatasetCard.load(folder + "/README.md").data.to_dict()
print(json.dumps({"rows": rows, "prompt": splits["tools"]["test"][0]["prompt"], "card": card}))
"""


@pytest.mark.slow
def test_datasets_loads_the_export(tmp_path: Path) -> None:
    python, names = python_of("trl"), {"test": "held_out", "train": "train"}
    words = [
        f"training/{names['test']}.yaml",
        "--train",
        f"training/{names['train']}.yaml",
        "--out",
        str(tmp_path / "set"),
    ]
    words += ["-o", "suite.graphs.*.count=1"]
    subprocess.run([sys.executable, "-m", "graphwalk", "export", "dataset", *words], cwd=ROOT, check=True, timeout=280)
    env = {**os.environ, "HOME": str(tmp_path), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run([python, "-c", LOAD, tmp_path / "set"], env=env, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    loaded = json.loads(done.stdout.splitlines()[-1])
    assert {name: set(splits) for name, splits in loaded["rows"].items()} == {
        "tools": {*names},
        "graphs": {*names},
    }
    assert all(number > 0 for splits in loaded["rows"].values() for number in splits.values())
    assert [message["role"] for message in loaded["prompt"]] == ["system", "user"]
    assert loaded["card"]["license"] == "mit"


@pytest.mark.slow
async def test_trl_trains_on_traces(tmp_path: Path) -> None:
    python = python_of("trl")
    files = []
    for name, suite, second_agent in (("questions", QUESTIONS, "varied"), ("mazes", MAZES, "depth_first")):
        run = await recorded(tmp_path / name, suite, "expert", second_agent)
        files.append(tmp_path / f"{name}.jsonl")
        export_traces([run], files[-1], TraceOptions())
    env = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    words = [python, "-m", "training.check_trl", *files]
    done = await asyncio.to_thread(subprocess.run, words, env=env, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "chats" in done.stdout
