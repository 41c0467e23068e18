"""The Gymnasium environments by Gymnasium's own checker, and an expert's walk through them."""

import json
import warnings
from typing import Any

import pytest

gymnasium = pytest.importorskip("gymnasium", reason="pip install gymnasium")

MAZES = {"name": "m", "suite": {"name": "mazes", "mazes": [{"size": 5, "min_path": 4}]}}
QUESTIONS = {"name": "q", "suite": {"name": "questions", "graphs": [{"nodes": 20}], "questions": ["node_by_property"]}}


@pytest.mark.parametrize(("name", "experiment"), [("Mazes", MAZES), ("Questions", QUESTIONS)])
def test_gymnasium_finds_nothing_wrong(name: str, experiment: dict[str, Any]) -> None:
    from gymnasium.utils.env_checker import check_env

    import graphwalk.environments.gymnasium  # noqa: F401 -- registers them

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        env = gymnasium.make(f"graphwalk/{name}-v0", experiment=experiment, render_mode="ansi")
        check_env(env.unwrapped, skip_render_check=False)
    env.close()


def test_a_walk_earns_the_whole_reward() -> None:
    from graphwalk.environments.gymnasium import GraphwalkEnv

    env = GraphwalkEnv(QUESTIONS)
    prompt, info = env.reset(seed=1, options={"task": 0})
    task = env.stage.planned[0].task
    assert task.question in prompt
    assert info["tools"][0]["function"]["name"] == "get_node_by_property"
    named = task.parameters
    arguments = {"label": named["label"], "property_name": named["property"], "property_value": named["value"]}
    shown, reward, ended, _, info = env.step(json.dumps({"name": "get_node_by_property", "arguments": arguments}))
    assert (reward, ended, info["error"]) == (0.0, False, None)
    answer = [{"node_key": row["properties"]["key"]} for row in json.loads(shown)]
    _, reward, ended, _, info = env.step(json.dumps(answer))
    assert ended
    assert reward == info["reward"].total == 1.0
    env.close()


def test_environments_of_one_stage_walk_side_by_side() -> None:
    from graphwalk.environments.gymnasium import GraphwalkEnv
    from graphwalk.environments.stage import Stage
    from graphwalk.runs.playing.background import run_in_background

    stage = run_in_background(Stage.open(MAZES))
    envs = [GraphwalkEnv(stage=stage) for _ in range(20)]
    start = str(stage.planned[0].task.parameters["start"])
    visit = json.dumps({"name": "get_next_possible_cells", "arguments": {"node_id": start}})
    for env in envs:
        env.reset(options={"task": 0})
    seen = {env.step(visit)[0] for env in envs}
    assert len(seen) == 1, "the marks of one episode are seen in another"
    run_in_background(stage.close())
