"""Scores of answers to own questions, as a table of cases."""

import json
from typing import Any

import pytest

from graphwalk.config.agent import Scoring
from graphwalk.models.chat import Message, ToolCall
from graphwalk.models.trajectory import ExitStatus, ToolResult, Trajectory, Turn
from graphwalk.suites.own_questions.suite import OwnQuestionTask
from tests.explained import explained_score


def task(answers: list[Any], names: dict[str, tuple[str, ...]] | None = None) -> OwnQuestionTask:
    target = [item if isinstance(item, dict) else {"value": item} for item in answers]
    return OwnQuestionTask(
        task_id="q1",
        suite="own_questions",
        template="own_question",
        question="Which?",
        parameters={},
        target=target,
        target_size=len(target),
        seed=0,
        graph_digest="d",
        fields=tuple(target[0]) if target else ("value",),
        names=names or {},
        tags=(),
        cypher=None,
    )


def score(question_task: OwnQuestionTask, reply: str, seen: str = "", text: str = "exact") -> dict[str, Any]:
    results = (ToolResult(ToolCall("1", "get_node_by_property", "{}"), seen, rows=1),) if seen else ()
    turns = (*([Turn(Message("assistant", None), results=results)] if seen else []), Turn(Message("assistant", reply)))
    trajectory = Trajectory((), turns, ExitStatus.ANSWERED)
    scoring = Scoring.model_validate({"text": text})
    return vars(explained_score(question_task, "tools", trajectory, question_task.read(reply), scoring))


@pytest.mark.parametrize(
    ("target", "reply", "precision", "recall"),
    [
        (["Tern"], 'The Tern [Tern].\n["Tern"]', 1, 1),
        (["Tern"], '["Tern", "Tern"]', 1, 1),
        (["Tern", "Vulcan"], '["Tern"]', 1, 0.5),
        (["Tern"], '["Tern", "Vulcan"]', 0.5, 1),
        (["Tern"], '["tern"]', 0, 0),
        (["Nóvoa"], '["No\u0301voa"]', 1, 1),
        ([14.23], "[14.23000000001]", 1, 1),
        ([14.23], "[14.2300001]", 0, 0),
        ([7], "[7.0]", 1, 1),
        ([9780306406157], "[9780306406999]", 0, 0),
        ([0.1, 0.10000000001], "[0.10000000001, 0.1]", 1, 1),
        ([7], '["7"]', 1, 1),
        ([1], "[true]", 0, 0),
        ([True], '["true"]', 1, 1),
        ([{"who": "Ida", "share": 0.5}], '[{"share": 0.5, "who": "Ida"}]', 1, 1),
        ([{"who": "Ida", "share": None}], '[{"who": "Ida"}]', 1, 1),
        ([{"who": "Ida", "all": ["a", "b"]}], '[{"who": "Ida", "all": ["b", "a"]}]', 1, 1),
        ([{"who": "Ida", "share": 1}, {"who": "Bo", "share": 2}], '{"answer": [{"who": "Bo", "share": 2}]}', 1, 0.5),
        (["Tern"], "[]", 0, 0),
        (["Tern"], "I cannot say.", 0, 0),
    ],
)
def test_values_and_rows_are_compared_as_sets(target: list[Any], reply: str, precision: float, recall: float) -> None:
    scored = score(task(target), reply)
    assert (scored["precision"], scored["recall"]) == (precision, recall)
    assert scored["correct"] == (precision == recall == 1)
    assert scored["f1"] == pytest.approx(2 * precision * recall / (precision + recall) if precision else 0)


def test_node_is_named_by_key_or_by_its_own_texts() -> None:
    film = task(["f2"], {"f2": ("Red Dust", "tt0133")})
    for reply, correct in (('["f2"]', 1), ('["Red Dust"]', 1), ('["f2", "Red Dust", "tt0133"]', 1), ('["f3"]', 0)):
        assert score(film, reply)["correct"] == bool(correct)
    assert score(film, '["Red Dust", "f3"]')["precision"] == 0.5
    assert not score(film, '["red dust"]')["correct"]
    assert score(film, '[" RED DUST "]', text="folded")["correct"]


@pytest.mark.parametrize("reply", ['["NOVOA"]', '[" nóvoa"]', '["No\u0301voa "]'])
def test_folded_text_ignores_case_accents_and_outer_spaces(reply: str) -> None:
    assert score(task(["Nóvoa"]), reply, text="folded")["correct"]
    assert not score(task(["Nóvoa"]), '["Nova"]', text="folded")["correct"]


@pytest.mark.parametrize(
    ("target", "reply", "correct", "answered", "abstained", "invented"),
    [
        (["Tern"], "The graph does not tell.\n[]", False, False, True, False),
        ([], "The graph does not tell.\n[]", True, False, False, False),
        ([], '["Tern"]', False, True, False, True),
        ([], "It is the Tern.", False, False, False, False),
        (["Tern"], "It is the Tern.", False, False, False, False),
        (["Tern"], '["Vulcan"]', False, True, False, False),
    ],
)
def test_abstentions_and_inventions_are_apart(
    target: list[Any], reply: str, correct: bool, answered: bool, abstained: bool, invented: bool
) -> None:
    scored = score(task(target), reply)
    outcome = [bool(scored[name]) for name in ("correct", "answered", "abstained", "invented")]
    assert outcome == [correct, answered, abstained, invented]
    assert (scored["abstained"] is None, scored["invented"] is None) == (not target, bool(target))
    assert scored["recall"] == float(correct)


def test_grounded_is_the_share_of_texts_in_results() -> None:
    seen = json.dumps([{"properties": {"key": "Tern", "name": "Tern"}}])
    assert score(task(["Tern"]), '["Tern"]', seen)["grounded"] == 1
    assert score(task(["Tern"]), '["Tern", "Argo"]', seen)["grounded"] == 0.5
    assert score(task([3]), "[3]", seen)["grounded"] is None


def test_without_a_query_the_proof_of_an_answer_is_unknown() -> None:
    seen = json.dumps([{"properties": {"key": "Tern", "name": "Tern"}}])
    assert score(task(["Tern"]), '["Tern"]', seen)["proven"] is None
    assert score(task(["Argo"]), "[]", seen)["proven"] is None
