"""Levers that contradict each other are refused in words, and none that is off changes a request."""

from pathlib import Path
from typing import Any

import pytest

from graphwalk.config.resources import data_path
from graphwalk.errors import ConfigError
from graphwalk.runs.experiment import load_experiment
from graphwalk.runs.resolve import resolve
from graphwalk.variables import Variables

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"tool_choice": "required"}, "agent.tool_choice: required needs answer: tool"),
    ({"tool_choice": "required", "answer": "tool", "tool_format": "text"}, "not with tool_format: text"),
    ({"nudges": 3}, "nudges"),
]


@pytest.mark.parametrize(("agent", "message"), REFUSED)
def test_contradictions_are_refused_before_a_model_is_opened(agent: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        resolve(load_experiment("quickstart", flags={f"agent.{k}": v for k, v in agent.items()}), Variables())


@pytest.mark.parametrize(
    ("experiment", "flags", "message"),
    [
        ("magma", {"agent.answer": "tool"}, "agent.answer: the suite magma has no typed answers"),
        ("quickstart", {"vary": {"agent.tool_choice": ["auto", "required"]}}, "required needs answer: tool"),
    ],
)
def test_what_a_suite_or_a_setting_does_not_have_is_refused(
    experiment: str, flags: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        resolve(load_experiment(experiment, flags={"models": ["openai/m"], **flags}), Variables(), keys=False)


def test_a_tool_of_your_own_cannot_have_the_name_of_the_typed_one(tmp_path: Path) -> None:
    own = tmp_path / "answer.yaml"
    own.write_text((data_path("tools") / "think.yaml").read_text().replace("name: think", "name: answer"))
    flags = {"agent.answer": "tool", "agent.tools": [str(own)]}
    with pytest.raises(ConfigError, match="not with a tool of this name"):
        resolve(load_experiment("quickstart", flags=flags), Variables())
