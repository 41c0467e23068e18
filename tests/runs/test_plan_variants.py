"""Variants of a run: fields that an experiment varies, each combination on the same tasks."""

import json
import shutil
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from graphwalk.analysis.compare_runs import compare_runs
from graphwalk.analysis.verify import verify_run
from graphwalk.cli.app import app
from graphwalk.errors import ConfigError
from graphwalk.runs.experiment import load_experiment
from graphwalk.runs.folder import RunFolder
from tests.models.server import Answer, ModelServer, Request, chat
from tests.runs.runs import NOTHING_SET, experiment, records, resume, start, without_time
from tests.runs.test_play import local, served

SMALL = {
    "suite.graphs": [{"nodes": 20}],
    "suite.questions": ["node_count", "node_by_property"],
    "models": ["scripted/expert"],
}
LIMITS = {"agent.turn_limit": [1, 10]}
WORDINGS = {"suite.wording": ["standard", "held_out"]}


def varied(vary: dict[str, Any], **flags: Any) -> Any:
    return experiment(**{**SMALL, "vary": vary, **flags})


def by_setting(folder: Path) -> dict[str, list[dict[str, Any]]]:
    records_by_setting: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for record in sorted(records(folder), key=lambda record: str(record["task_id"])):
        records_by_setting[record["setting"]].append(record)
    return records_by_setting


async def test_each_combination_plays_the_same_tasks(tmp_path: Path) -> None:
    await start(tmp_path / "run", varied({**LIMITS, **WORDINGS}))
    played = by_setting(tmp_path / "run")
    names = [f"tools:turn_limit={n},wording={w}" for n in (1, 10) for w in ("held_out", "standard")]
    assert sorted(played) == sorted(names)
    targets = [[(one["task_id"], one["task"]["gold"]) for one in played[name]] for name in names]
    assert len(targets[0]) == 2
    assert all(target == targets[0] for target in targets)
    held_out, standard = ({one["task"]["question"] for one in played[name]} for name in names[:2])
    assert not held_out & standard
    assert [{one["exit_status"] for one in played[name]} for name in names[::2]] == [{"turn_limit"}, {"answered"}]
    assert (await verify_run(RunFolder.open(tmp_path / "run"), NOTHING_SET)).holds


async def test_scripted_agents_draw_the_same_in_all_variants(tmp_path: Path) -> None:
    await start(tmp_path / "run", varied({"agent.turn_limit": [50, 60]}, models=["scripted/random"]))
    one, other = by_setting(tmp_path / "run").values()
    assert [line["answer"] for line in one] == [line["answer"] for line in other]


def test_a_dry_run_counts_all_variants() -> None:
    words = ["run", "quickstart", "--graphs", "1", "-m", "scripted/expert", "--dry-run", "--json"]
    words += ["-o", "vary={agent.turn_limit: [1, 2, 30]}"]
    estimate = json.loads(CliRunner().invoke(app, words, catch_exceptions=False).stdout)
    rows = estimate["rows"]
    assert [(row["setting"], row["episodes"]) for row in rows] == [
        (f"tools:turn_limit={limit}", 12) for limit in (1, 2, 30)
    ]
    assert rows[0]["tool_calls"] < rows[2]["tool_calls"]


@pytest.mark.parametrize(
    ("vary", "message"),
    [
        ("agent.turns: [1]", "agent.turns cannot be varied"),
        ("suite.graphs: [1]", "suite.graphs cannot be varied"),
        ("agent.prompts: [./nowhere/]", "agent.prompts: there is no file or folder"),
        ("agent.turn_limit: []", "agent.turn_limit: needs at least one value"),
        ("agent.turn_limit: [many]", 'agent.turn_limit: must be a valid integer, not "many"'),
        ("agent.turn_limit: [5, 5]", "two variants are named turn_limit=5"),
        ("agent.turn_limit: 5", "vary.agent.turn_limit: must be a valid list"),
    ],
)
def test_a_wrong_variation_is_refused_with_file_and_field(tmp_path: Path, vary: str, message: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(f"name: mine\nsuite: {{name: questions}}\nvary: {{{vary}}}\n", encoding="utf-8")
    with pytest.raises(ConfigError) as error:
        load_experiment(str(file))
    assert str(error.value).startswith(f"{file}:3: vary")
    assert message in str(error.value)


def test_variants_of_a_wrong_field_are_not_refused_too() -> None:
    words = ["run", "quickstart", "--dry-run", "-o", "vary={agent.nudges: [0, 1]}", "-o", "agent.answer=some"]
    with pytest.raises(ConfigError) as error:
        CliRunner().invoke(app, words, catch_exceptions=False)
    assert "agent.answer: must be 'text' or 'tool'" in str(error.value)
    assert "vary" not in str(error.value)


async def test_protocols_are_variants_of_one_connection(tmp_path: Path) -> None:
    """Each variant speaks its own protocol, with its own prompts, and a fallback of one is none of the other."""
    seen: dict[str, set[str]] = defaultdict(set)

    def answer(request: Request) -> Answer:
        body = request.body
        kind = "json" if "response_format" in body else "native" if "tools" in body else "text"
        seen[kind].add(body["messages"][0]["content"])
        return Answer(chat('{"answer": "[]"}' if kind == "json" else "[]"))

    vary = {"agent.tool_protocol": ["native", "text", "json"], "agent.prompts": [None, "short"]}
    async with ModelServer(answer) as server:
        config = local(**{"suite.questions": ["node_count"], "vary": vary})
        await start(tmp_path / "run", config, served(server))
    assert {kind: len(prompts) for kind, prompts in seen.items()} == {"native": 2, "text": 2, "json": 2}
    assert any("Several blocks are several calls." in prompt for prompt in seen["text"])
    assert {line["trajectory"]["turns"][-1]["message"]["content"] for line in records(tmp_path / "run")} == {"[]"}
    assert (await verify_run(RunFolder.open(tmp_path / "run"), NOTHING_SET)).holds


async def test_a_run_with_variants_resumes(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    await start(whole, varied({**LIMITS, **WORDINGS}))
    log = whole / "results.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    straight = sorted(map(without_time, records(whole)))
    log.write_bytes(b"".join(lines[:3]))
    assert (await resume(whole)).finished == len(lines) == 8
    assert sorted(map(without_time, records(whole))) == straight


async def test_variant_settings_reach_the_server(tmp_path: Path) -> None:
    prompts = tmp_path / "mine"
    prompts.mkdir()
    (prompts / "graph_tools.j2").write_text("Be brief.", encoding="utf-8")
    file = tmp_path / "mine.yaml"
    file.write_text("name: mine\nsuite: {name: questions}\nvary: {agent.prompts: [null, short, ./mine/]}\n", "utf-8")
    vary = dict(load_experiment(str(file)).vary)
    vary["options.temperature"] = (0.0, 0.5)
    heard: set[tuple[float, str]] = set()

    def answer(request: Request) -> Answer:
        heard.add((request.body["temperature"], request.body["messages"][0]["content"].split(".")[0]))
        return Answer(chat("[]"))

    async with ModelServer(answer) as server:
        config = local(**{"suite.questions": ["node_count"], "vary": vary})
        await start(tmp_path / "run", config, served(server))
    assert len(heard) == 6
    assert {text for _, text in heard} >= {"Be brief"}
    shutil.rmtree(prompts)  # verification reads the texts in the run folder
    assert (await verify_run(RunFolder.open(tmp_path / "run"), NOTHING_SET)).holds


async def test_variants_are_compared_within_and_across_runs(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    await start(one, varied({**LIMITS, **WORDINGS}))
    await start(other, varied({}))
    assert len(compare_runs([one], settings=["tools"]).overall) == 6
    (pair,) = compare_runs(
        [one], settings=["tools:turn_limit=1,wording=standard", "tools:turn_limit=10,wording=standard"]
    ).overall
    assert pair["measures"]["accuracy"]["second_better"] == 1
    assert len(compare_runs([one, other]).overall) == 10
