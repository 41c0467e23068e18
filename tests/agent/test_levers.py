"""Levers that contradict each other are refused in words, and none that is off changes a request."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from graphwalk.errors import ConfigError
from graphwalk.files.resources import data_path
from graphwalk.runs.experiment import load_experiment
from graphwalk.runs.folder import NewRun
from graphwalk.runs.play import start_run
from graphwalk.runs.progress import Progress
from graphwalk.runs.resolve import resolve
from graphwalk.variables import Variables
from tests.models.server import Answer, ModelServer, Request, chat

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"tool_choice": "required"}, "agent.tool_choice: required needs answer: tool"),
    ({"tool_choice": "required", "answer": "tool", "tool_protocol": "text"}, "not with tool_protocol: text"),
    ({"strict_tools": True, "tool_protocol": "json"}, "agent.strict_tools: not with tool_protocol: json"),
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


REQUESTS = "fd42f6dba5e3868c41901d557cbf14f70821cb5407ff679dbd918a54e9c138a9"
"""SHA-256 of the requests of a small run."""


async def test_a_run_without_levers_sends_the_same_requests(tmp_path: Path) -> None:
    flags = {"limit": 4, "limits.max_concurrency": 1, "settings": ["tools", "no_tools"]}
    config = load_experiment("quickstart", graphs=1, flags={**flags, "models": ["openai/m"]})
    new = NewRun.make(config.name, tmp_path)
    calls = [("get_node_by_property", {"label": "None", "property_name": "key", "property_value": "a"})]

    def respond(request: Request) -> Answer:
        called = any(message["role"] == "tool" for message in request.body["messages"])
        return Answer(chat("[]") if called or "tools" not in request.body else chat(calls=calls))

    async with ModelServer(respond) as server:
        variables = Variables({"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.url})
        await start_run(resolve(config, variables), new, Progress())
        requests = sorted(json.dumps(request.body) for request in server.requests)
    assert hashlib.sha256("\n".join(requests).encode()).hexdigest() == REQUESTS
