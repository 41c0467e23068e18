"""The typed tool `answer`: a call that fits ends the episode, any other gets an error that names the mistake."""

import json
from pathlib import Path
from typing import Any

import pytest

from graphwalk.agent.answer_tool import AnswerTool
from graphwalk.analysis.verify import verify_run
from graphwalk.runs.folder import RunFolder
from graphwalk.suites.task import keys_as_answer, rows_as_answer
from graphwalk.types.episode import ToolResult
from graphwalk.variables import Variables
from tests.agent.played import AGENT, Shown, call, play

FORM = rows_as_answer({"node_key": "string", "rel_count": "integer"})
TOOLS = Shown(ToolResult(call("look"), "[]", rows=0))


@pytest.mark.parametrize(
    "rows",
    [
        [{"node_key": "a", "rel_count": "2"}],
        [{"node_key": "a", "rel_count": True}],
        [{"node_key": "a"}],
        [{"node_key": "a", "rel_count": 2, "more": 1}],
        ["a"],
        {"node_key": "a"},
        "[]",
    ],
)
async def test_a_call_that_does_not_fit_ends_nothing(rows: Any) -> None:
    result = await AnswerTool(TOOLS, FORM, AGENT).call(call("answer", rows=rows))
    assert (result.final, result.error) == (False, "bad_answer")
    assert '"rows" must be the only argument' in result.content
    assert "rel_count" in result.content


async def test_a_call_that_fits_ends_the_episode_with_the_text_that_the_task_reads() -> None:
    rows = [{"node_key": "é", "rel_count": 2}]
    result = await AnswerTool(TOOLS, FORM, AGENT).call(call("answer", rows=rows))
    assert (result.final, result.error, result.content) == (True, None, '[{"node_key": "é", "rel_count": 2}]')
    path = await AnswerTool(TOOLS, keys_as_answer(",".join), AGENT).call(call("answer", rows=["1", "2"]))
    assert (path.final, path.content) == (True, "1,2")


def test_the_tool_states_fields_and_types() -> None:
    (spec,) = AnswerTool(TOOLS, FORM, AGENT).specs
    rows = spec.parameters["properties"]["rows"]
    assert rows["items"]["properties"] == {"node_key": {"type": "string"}, "rel_count": {"type": "integer"}}
    assert (rows["items"]["required"], rows["items"]["additionalProperties"]) == (["node_key", "rel_count"], False)
    assert rows["description"]


@pytest.mark.parametrize("suite", ["questions", "mazes", "graphwalks"])
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


async def test_own_questions_have_typed_answers(tmp_path: Path) -> None:
    results = await play(tmp_path, "own_questions", {"answer": "tool"}, models=["scripted/look"])
    finals = [one.content for result in results for one in result.trajectory.results if one.final]
    assert finals
    assert all(isinstance(json.loads(text), list) for text in finals)
    assert any(result.score["correct"] for result in results if result.score)
