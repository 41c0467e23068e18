"""The package for NeMo Gym: its tasks, rows and cases need no NeMo Gym, its server does (`make environments`)."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import graphwalk
from graphwalk.errors import ConfigError
from tests.environments.test_packages import python_of

FOLDER = Path(__file__).parents[2] / "environments" / "nemo_gym"
SERVER, WORKLOAD = FOLDER / "resources_servers" / "graphwalk", FOLDER / "environments" / "graphwalk"
CASES = [json.loads(line) for line in (SERVER / "tests" / "verifier_cases.jsonl").read_text("utf-8").splitlines()]


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The modules of the server that do not import NeMo Gym."""
    monkeypatch.syspath_prepend(SERVER)
    import write_rows

    yield write_rows
    for name in ("write_rows", "graphwalk_tasks"):
        del sys.modules[name]


async def verify(package: Any, output: list[dict[str, Any]], **fields: Any) -> dict[str, Any]:
    tasks = package.Tasks({**package.FIXTURE, **fields})
    row = CASES[0]["request"]
    try:
        return await tasks.verify(row["task"], row["setting"], output)
    finally:
        await tasks.close()


async def test_the_cases_are_what_the_expert_plays(package: Any) -> None:
    assert await package.cases() == CASES


async def test_the_rows_hold_prompt_tools_and_task(package: Any) -> None:
    (row,) = await package.rows_of({**package.FIXTURE, "agent": {"demonstrations": 1}})
    params = row["responses_create_params"]
    assert {"get_node_by_property", "get_all_nearest_neighbors"} <= {tool["name"] for tool in params["tools"]}
    kinds = [item["type"] for item in params["input"]]
    assert {"function_call", "function_call_output"} <= {*kinds}
    assert row["agent_ref"]["name"] in yaml.safe_load((WORKLOAD / "config.yaml").read_text("utf-8"))


async def test_verify_pays_the_calls_and_the_answer(package: Any) -> None:
    output = CASES[0]["request"]["response"]["output"]
    call, answer = output[0], output[-1]
    assert (await verify(package, output))["step_rewards"] == [1.0, 0.0]
    alone = await verify(package, [answer])
    assert (alone["exact"], alone["step_rewards"]) == (1.0, [0.0])
    assert alone["reward"] < 1
    nothing = await verify(package, [call])
    assert (nothing["reward"], nothing["step_rewards"]) == (0.0, [1.0, 0.0])
    broken = await verify(package, [{**call, "arguments": "{"}, call, answer])
    assert (broken["exact"], broken["step_rewards"]) == (1.0, [0.0, 1.0, 0.0])
    rows = {**call, "name": "answer", "arguments": '{"rows": []}'}
    late = await verify(package, [call, rows, call], agent={"answer": "tool"})
    assert (late["exact"], late["step_rewards"]) == (0.0, [1.0, 0.0, 0.0])


@pytest.mark.slow
async def test_the_expert_is_paid_in_full_for_every_task(package: Any, tmp_path: Path) -> None:
    run = await graphwalk.arun("quickstart", models=["scripted/expert"], out=tmp_path / "run")
    tasks = package.Tasks("quickstart")
    for result in run.results():
        paid = await tasks.verify(result.key.task_id, "tools", package.output_of(result.trajectory))
        assert (paid["reward"], sum(paid["step_rewards"])) == (1.0, pytest.approx(1.0)), result.key.task_id
    await tasks.close()


async def test_what_the_agent_cannot_play_is_refused(package: Any) -> None:
    traces = {"name": "magma", "traces": [{"nodes": 5, "count": 1}], "free_running": True}
    with pytest.raises(ConfigError, match="is a dialogue"):
        await package.rows_of({"name": "m", "suite": traces, "settings": ["is"]})
    with pytest.raises(ConfigError, match=r"agent.nudges: 1 needs the loop of a run"):
        await package.rows_of({**package.FIXTURE, "agent": {"nudges": 1}})
    tasks = package.Tasks(package.FIXTURE)
    with pytest.raises(ConfigError, match="no task unknown with the setting tools in the experiment fixture"):
        await tasks.begin("unknown", "tools")
    await tasks.close()


@pytest.mark.slow
def test_the_server_answers_over_http_and_its_fixture_passes(tmp_path: Path) -> None:
    words = ["-m", "pytest", SERVER / "tests", "-c", os.devnull, "--rootdir", SERVER, "-p", "no:cacheprovider"]
    done = subprocess.run(
        [python_of("nemo"), *words, "-o", "asyncio_mode=auto"],
        env={**os.environ, "PYTHONPATH": str(SERVER), "HOME": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert "4 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.slow
def test_gym_env_validate_passes(tmp_path: Path) -> None:
    gym = python_of("nemo").with_name("gym")
    done = subprocess.run(
        [gym, "env", "validate", "graphwalk", "--search-dir", FOLDER, "--json"],
        env={**os.environ, "HOME": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert '"graphwalk_resources_server"' in done.stdout
