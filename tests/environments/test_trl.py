"""The class for TRL as its trainer takes it apart (grpo_trainer.py of 1.16), without the trainer, which needs torch."""

import inspect
import json
from typing import Any

import pytest
from graphwalk_trl import environment, rows_of, step_rewards

from graphwalk.errors import ConfigError

QUESTIONS = {"name": "q", "suite": {"name": "questions", "graphs": [{"nodes": 20}], "questions": ["node_by_property"]}}


def tools_of(environment_class: type[Any]) -> dict[str, Any]:
    """Return the functions of the class that the trainer takes for tools."""
    instance = environment_class()
    return {
        name: getattr(instance, name)
        for name, _ in inspect.getmembers(environment_class, predicate=inspect.isfunction)
        if name not in ("reset", "get_reward") and not name.startswith("_")
    }


def test_an_episode_is_played_and_paid() -> None:
    environment_class = environment(QUESTIONS)
    (row,) = rows_of(environment_class)
    assert [message["role"] for message in row["prompt"]] == ["system", "user"]
    tools = tools_of(environment_class)
    assert set(tools) == {
        "get_node_by_property",
        "get_all_nearest_neighbors",
        "get_unique_property_values",
        "think",
        "answer",
    }
    instance = environment_class()
    assert instance.reset(**row) is None
    named = environment_class._stage.planned[0].task.parameters
    shown = instance.get_node_by_property(named["label"], named["property"], property_value=named["value"])
    assert instance.step_rewards == [1.0]
    keys = [{"node_key": item["properties"]["key"]} for item in json.loads(shown)]
    instance.answer(json.dumps(keys))
    assert instance.get_reward() == 1.0
    assert instance.answer("[]") == "The answer was given already."
    assert step_rewards([instance, environment_class()], prompts=[]) == [1.0, 0.0]
    instance.reset(**row)
    assert instance.get_reward() == 0.0


def test_tool_docstrings_describe_arguments() -> None:
    for name, method in tools_of(environment(QUESTIONS)).items():
        signature = inspect.signature(method)
        assert method.__name__ == name
        assert signature.return_annotation is str
        for parameter in signature.parameters.values():
            assert parameter.annotation is not inspect.Parameter.empty
            assert f"    {parameter.name}: " in method.__doc__.partition("Args:")[2]


def test_tools_of_all_tasks_are_compared() -> None:
    two = {**QUESTIONS, "suite": {**QUESTIONS["suite"], "graphs": [{"nodes": 20, "count": 2}]}}  # type: ignore[dict-item]
    assert len(rows_of(environment(two))) == 2
    with pytest.raises(ConfigError, match="must have the same tools"):
        environment({**two, "agent": {"names_in_tools": 200}})
