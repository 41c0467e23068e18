"""Variants of a run: fields that an experiment varies, each combination on the same tasks."""

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from graphwalk.analysis.verify import verify_run
from graphwalk.errors import ConfigError
from graphwalk.runs.experiment import load_experiment
from graphwalk.runs.folder import RunFolder
from tests.models.server import Answer, ModelServer, Request, chat
from tests.runs.runs import NOTHING_SET, experiment, records, resume, start
from tests.runs.test_play import local, served

SMALL = {
    "suite.graphs": [{"nodes": 20}],
    "suite.questions": ["node_count", "node_by_property"],
    "models": ["scripted/expert"],
}
LIMITS = {"agent.turn_limit": [1, 10]}
WORDS = {"agent.tool_words": ["whole", "short"]}


def varied(vary: dict[str, Any], **flags: Any) -> Any:
    return experiment(**{**SMALL, "vary": vary, **flags})


def by_setting(folder: Path) -> dict[str, list[dict[str, Any]]]:
    records_by_setting: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for record in sorted(records(folder), key=lambda record: str(record["task_id"])):
        records_by_setting[record["setting"]].append(record)
    return records_by_setting


async def test_each_combination_plays_the_same_tasks(tmp_path: Path) -> None:
    await start(tmp_path / "run", varied({**LIMITS, **WORDS}))
    played = by_setting(tmp_path / "run")
    after_one_turn = {f"tools:turn_limit=1,tool_words={words}" for words in ("short", "whole")}
    after_ten = {f"tools:turn_limit=10,tool_words={words}" for words in ("short", "whole")}
    assert played.keys() == after_one_turn | after_ten
    (first, *_) = played.values()
    tasks = [(record["task_id"], record["task"]["gold"]) for record in first]
    assert len(tasks) == 2
    for name, of_setting in played.items():
        assert [(record["task_id"], record["task"]["gold"]) for record in of_setting] == tasks
        end = "turn_limit" if name in after_one_turn else "answered"
        assert {record["exit_status"] for record in of_setting} == {end}
    log = tmp_path / "run" / "results.jsonl"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:3]))
    assert (await resume(tmp_path / "run")).finished == 8
    assert by_setting(tmp_path / "run").keys() == played.keys()
    assert (await verify_run(RunFolder.open(tmp_path / "run"), NOTHING_SET)).holds


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


async def test_protocols_are_variants_of_one_connection(tmp_path: Path) -> None:
    """Each variant speaks its own protocol, with its own prompts, and a fallback of one is none of the other."""
    seen: dict[str, set[str]] = defaultdict(set)

    def answer(request: Request) -> Answer:
        prompt = request.body["messages"][0]["content"]
        if "response_format" in request.body:
            seen["json"].add(prompt)
            return Answer(chat('{"answer": "[]"}'))
        seen["native" if "tools" in request.body else "text"].add(prompt)
        return Answer(chat("[]"))

    vary = {"agent.tool_format": ["native", "text", "json"], "agent.prompts": [None, "short"]}
    async with ModelServer(answer) as server:
        config = local(**{"suite.questions": ["node_count"], "vary": vary})
        await start(tmp_path / "run", config, served(server))
    assert {kind: len(prompts) for kind, prompts in seen.items()} == {"native": 2, "text": 2, "json": 2}
    assert any("Several blocks are several calls." in prompt for prompt in seen["text"])
    assert {line["trajectory"]["turns"][-1]["message"]["content"] for line in records(tmp_path / "run")} == {"[]"}
    assert (await verify_run(RunFolder.open(tmp_path / "run"), NOTHING_SET)).holds
