"""The typed tool `answer`: a call that fits ends the episode, any other gets an error that names the mistake."""

import json
from pathlib import Path
from typing import Any

import pytest

from graphwalk.agent.levers import AnswerTool
from graphwalk.agent.prompt import keys_as_answer, rows_as_answer
from graphwalk.analysis.verify import verify_run
from graphwalk.config.agent import AgentConfig
from graphwalk.graphs.schema import Schema
from graphwalk.models.chat import ToolCall
from graphwalk.runs.folder import RunFolder
from graphwalk.stores.base import GraphStore
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.variables import Variables
from tests.agent.played import play

FORM = rows_as_answer({"node_key": "string", "rel_count": "integer"})


def answer(rows: Any) -> ToolCall:
    return ToolCall("1", "answer", json.dumps({"rows": rows}))


@pytest.fixture
def toolbox(store: GraphStore, schema: Schema) -> GraphToolbox:
    return GraphToolbox(store, schema)


@pytest.mark.parametrize(
    "rows",
    [
        [{"node_key": "a", "rel_count": "2"}],
        [{"node_key": "a"}],
        [{"node_key": "a", "rel_count": 2, "more": 1}],
        {"node_key": "a"},
    ],
)
async def test_a_call_that_does_not_fit_ends_nothing(toolbox: GraphToolbox, rows: Any) -> None:
    result = await AnswerTool(toolbox, FORM, AgentConfig()).call(answer(rows))
    assert (result.final, result.error) == (False, "bad_answer")
    assert '"rows" must be the only argument' in result.content
    assert "rel_count" in result.content


async def test_a_call_that_fits_ends_the_episode_with_the_text_that_the_task_reads(toolbox: GraphToolbox) -> None:
    rows = [{"node_key": "é", "rel_count": 2}]
    result = await AnswerTool(toolbox, FORM, AgentConfig()).call(answer(rows))
    assert (result.final, result.error, result.content) == (True, None, '[{"node_key": "é", "rel_count": 2}]')
    path = await AnswerTool(toolbox, keys_as_answer(",".join), AgentConfig()).call(answer(["1", "2"]))
    assert (path.final, path.content) == (True, "1,2")


def test_the_tool_states_fields_and_types(toolbox: GraphToolbox) -> None:
    spec = AnswerTool(toolbox, FORM, AgentConfig()).specs[-1]
    rows = spec.parameters["properties"]["rows"]
    assert rows["items"]["properties"] == {"node_key": {"type": "string"}, "rel_count": {"type": "integer"}}
    assert (rows["items"]["required"], rows["items"]["additionalProperties"]) == (["node_key", "rel_count"], False)
    assert rows["description"]


@pytest.mark.parametrize("suite", ["questions", "mazes"])
async def test_the_expert_answers_by_the_tool_and_is_right(suite: str, tmp_path: Path) -> None:
    models = ["scripted/expert", "scripted/flawed"]
    results = await play(tmp_path, suite, {"answer": "tool"}, models=models)
    for result in results:
        final = [one.call.name for one in result.trajectory.results if one.final]
        if result.key.model == "scripted/expert":
            assert result.score is not None
            assert (result.score["correct"], result.exit_status, final) == (True, "answered", ["answer"]), result.key
        assert len(final) <= 1
    outcome = await verify_run(RunFolder.open(tmp_path / "run"), Variables())
    assert outcome.error is None
