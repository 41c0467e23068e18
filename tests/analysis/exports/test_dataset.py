"""The data set for the hub: its rows are the tasks of a run, its card makes it again, and mistakes leave nothing behind."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from polars import read_parquet
from typer.testing import CliRunner

from graphwalk.api import generate_graph, write_graph
from graphwalk.cli.app import app
from graphwalk.training.environment import OpenEpisode, TaskEnvironment

INSPECT_TASKS = Path(__file__).parents[3] / "environments" / "inspect" / "graphwalk_inspect" / "tasks.py"
SUITES: dict[str, dict[str, Any]] = {
    "questions": {"suite": {"name": "questions", "graphs": [{"nodes": 20}], "questions": ["node_by_property"]}},
    "mazes": {"suite": {"name": "mazes", "mazes": [{"size": 5, "min_path": 4}]}},
    "magma": {"suite": {"name": "magma", "traces": [{"nodes": 5, "count": 1}]}, "settings": ["io", "is"]},
}


def export(*words: object) -> Any:
    return CliRunner().invoke(app, ["export", "dataset", *map(str, words)])


def experiment(folder: Path, name: str, **fields: Any) -> Path:
    path = folder / f"{name}.yaml"
    path.write_text(json.dumps({"name": name, "settings": ["tools"], **SUITES.get(name, {}), **fields}))
    return path


def front(folder: Path) -> dict[str, Any]:
    text = (folder / "README.md").read_text()
    return dict(yaml.safe_load(text.split("---\n")[1]))


async def episodes_of(file: Path) -> list[OpenEpisode]:
    stage = await TaskEnvironment.open(str(file))
    episodes = [await stage.begin(number) for number in range(len(stage))]
    await stage.close()
    return episodes


@pytest.mark.parametrize("suite", SUITES)
def test_the_rows_are_the_tasks_of_an_episode(tmp_path: Path, suite: str) -> None:
    file, out = experiment(tmp_path, suite), tmp_path / "set"
    assert export(file, "--out", out).exit_code == 0
    configs = {config["config_name"]: config["data_files"] for config in front(out)["configs"]}
    graphs = read_parquet(out / configs.pop("graphs")[0]["path"]).to_dicts()
    rows = []
    for files in configs.values():
        rows += read_parquet(out / files[0]["path"]).to_dicts()
    (played_by,) = re.findall(r"inspect eval graphwalk_inspect/(\w+) ", (out / "README.md").read_text())
    assert f'\n{played_by} = _task_of("{played_by}", ' in INSPECT_TASKS.read_text()
    expected = asyncio.run(episodes_of(file))
    by_name = {(row["id"], row["setting"]): row for row in rows}
    assert len(by_name) == len(rows) == len(expected) > 0
    for episode in expected:
        row = by_name[episode.task.task_id, str(episode.planned.key.setting)]
        assert row["prompt"] == [{"role": message.role, "content": message.content} for message in episode.prompt]
        names = [tool["function"]["name"] for tool in json.loads(row["tools"])]
        assert names == [spec.name for spec in episode.tools]
        assert json.loads(row["task"]) == episode.task.model_dump(mode="json")
        assert json.loads(row["target"]) == json.loads(row["task"])["gold"]
        assert row["canary"] in (out / "README.md").read_text()
    assert {row["graph"] for row in rows} == {graph["digest"] for graph in graphs}


def test_the_experiments_in_the_folder_make_the_same_bytes_again(tmp_path: Path) -> None:
    train = experiment(tmp_path, "train", suite=SUITES["questions"]["suite"], seed=8)
    assert export(experiment(tmp_path, "questions"), "--train", train, "--out", tmp_path / "set").exit_code == 0
    folder = tmp_path / "set"
    done = export(folder / "test.yaml", "--train", folder / "train.yaml", "--out", tmp_path / "again")
    assert done.exit_code == 0, done.output
    files = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    assert len(files) == 7
    assert [name for name in files if (folder / name).read_bytes() != (tmp_path / "again" / name).read_bytes()] == []
    digests = re.findall(r"`([0-9a-f]{64})`", (folder / "README.md").read_text())
    assert all(digest in done.output for digest in digests)
    assert {row["canary"] for row in read_parquet(folder / "tools/train.parquet").to_dicts()} == {None}


def test_the_licence_of_your_own_graph_is_asked_for_and_secrets_stay_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "k3y-of-a-server-9")
    write_graph(generate_graph(nodes=20, seed=3), tmp_path / "mine.json")
    suite = {**SUITES["questions"]["suite"], "graphs": [{"file": "mine.json"}]}
    file, out = experiment(tmp_path, "own", suite=suite, description="k3y-of-a-server-9"), tmp_path / "set"
    assert "--licence" in export(file, "--out", out).exception.hint  # type: ignore[union-attr]
    assert export(file, "--out", out, "--licence", "cc0-1.0").exit_code == 0
    assert front(out)["license"] == "cc0-1.0"
    assert "k3y-of-a-server-9" not in "".join(path.read_text() for path in out.iterdir() if path.is_file())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--train", "questions.yaml", "--out", "new"], "test and train share 1 graph"),
        (["--out", "."], "is not empty"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str) -> None:
    monkeypatch.chdir(tmp_path)
    experiment(tmp_path, "questions")
    refused = export("questions.yaml", *words)
    assert message in str(refused.exception)
    assert not list(tmp_path.rglob("*.parquet"))
