import json

import pytest

from graphwalk.models.trajectory import ExitStatus
from graphwalk.suites.questions.task import QuestionTask
from tests.explained import explained_score
from tests.suites.episodes import call, episode, seen, tool_turn


def task(target, fields=("node_key",), scored=None, mode="set", template="node_by_property", parameters=None, **more):
    return QuestionTask(
        task_id="t",
        template=template,
        question="Which?",
        parameters=parameters or {"label": "L", "property": "p", "value": 1},
        target=target,
        target_size=len(target),
        seed=0,
        graph_digest="d",
        category="retrieval",
        cypher="RETURN 1",
        cypher_parameters={},
        answer_fields=fields,
        scored_fields=scored or fields,
        mode=mode,
        template_version=1,
        **more,
    )


def keys(*names):
    return [{"node_key": name} for name in names]


def score(question, answer, *shown, setting="tools", **how):
    """`shown`: rows with keys of nodes that a tool gives back, which all have the value that is asked for."""
    turns = []
    for number, rows in enumerate(shown):
        nodes = []
        for row in rows:
            for key in row.values():
                nodes.append({"label": "L", "properties": {"key": key, "p": 1}})
        turns.append(tool_turn(seen(call(number, value=number), nodes)))
    reply = answer if isinstance(answer, str) else json.dumps(answer)
    trajectory = episode(*turns, answer=reply, **how)
    return explained_score(question, setting, trajectory, question.read(trajectory.reply))


@pytest.mark.parametrize(
    ("answer", "shown", "cause"),
    [
        ("The nodes are a and b.", keys("a", "b"), "wrong_form"),
        ('[{"key": "a", "n": 1}, {"key": "b", "n": 2}]', keys("a", "b"), "wrong_form"),
        ("The nodes are a and b.", None, "wrong_form"),
        ("The nodes are a and b.", keys("a"), "unreadable"),
        ("The node is a.", keys("a", "b"), "unreadable"),
        ("<think>a and b</think>The node is b.", None, "unreadable"),
        ("[]", keys("a", "b"), "no_answer"),
        ("", keys("a", "b"), "no_answer"),
        (keys("a", "x"), keys("a", "b"), "invented"),
        (keys("c"), [], "invented"),
        (keys("a"), keys("a", "b"), "misread"),
        (keys("a"), keys("a"), "missing_rows"),
        (keys("a", "c"), keys("a", "c"), "extra_rows"),
        (keys("a", "b", "x"), None, "extra_rows"),
    ],
)
def test_the_cause_of_a_wrong_answer(answer, shown, cause):
    """Without rows shown, the episode has no tools."""
    results, setting = ([], "no_tools") if shown is None else ([shown], "tools")
    assert score(task(keys("a", "b")), answer, *results, setting=setting).error_class == cause


@pytest.mark.parametrize(
    ("made", "cause"),
    [
        (seen(call(1, label="L", value="s2"), []), "wrong_start"),
        (seen(call(1, label="M", value="s1"), "no label M", error="unknown_name"), "wrong_start"),
        (seen(call(1, label="L", value="s1"), []), "no_answer"),
        (seen(call(1, "run_cypher", query="MATCH (n {key: 's1'})-->(m) RETURN m.key"), []), "no_answer"),
        (seen(call(1, "think", thought="hm"), "hm"), "no_answer"),
    ],
)
def test_an_episode_that_never_finds_the_start_has_a_cause_of_its_own(made, cause):
    question = task(keys("a"), parameters={"source_label": "L", "key": "s1"}, template="foreign")
    trajectory = episode(tool_turn(made), answer="[]")
    assert explained_score(question, "tools", trajectory, question.read(trajectory.reply)).error_class == cause


@pytest.mark.parametrize(
    ("changes", "setting"), [({}, "no_tools"), ({"oracles": 1}, "tools"), ({"template": "foreign"}, "tools")]
)
def test_an_answer_without_tools_or_evaluator_cannot_be_verified(changes, setting):
    result = score(task(keys("a"), **changes), keys("b"), keys("a", "b"), setting=setting)
    assert (result.grounded, result.error_class) == (None, "extra_rows")


def test_an_answer_forced_by_a_limit_is_none_strictly():
    for how in ({"forced": True}, *({"status": ExitStatus(f"{limit}_limit")} for limit in ("turn", "call"))):
        result = score(task(keys("a")), keys("a"), keys("a"), **how)
        assert (result.correct, result.strict_correct) == (True, False)


def test_all_properties_are_the_stricter_score():
    target = [{"source_key": "a", "target_key": "b", "days": 40, "note": None}]
    question = task(target, ("source_key", "target_key", "days", "note"), ("source_key", "target_key"))
    ends = {"source_key": "a", "target_key": "b"}
    assert score(question, [{**ends, "days": "40.0"}], target).all_properties_correct is True
    wrong = score(question, [{**ends, "days": 41}], target)
    assert (wrong.correct, wrong.all_properties_correct, wrong.missing_fields) == (True, False, ("note",))
    assert score(task(keys("a")), keys("a")).all_properties_correct is None


def test_a_tied_row_counts_in_the_score_of_ties_alone():
    question = task(keys("a"), rows_left_out=keys("b", "c"))
    for answer, correct, any_tied in (("a", True, True), ("c", False, True), ("d", False, False)):
        result = score(question, keys(answer))
        assert (result.correct, result.any_tied_correct) == (correct, any_tied)
    assert score(question, keys("b", "d")).any_tied_correct is False
    assert score(task(keys("a")), keys("a")).any_tied_correct is None


@pytest.mark.parametrize("mode", ["any-one", "ties-allowed"])
def test_one_of_several_right_answers_is_enough(mode):
    question = task(keys("a", "b"), mode=mode)
    assert score(question, keys("b"), keys("b")).correct
    assert not score(question, keys("b", "c"), keys("b", "c")).correct
    assert score(question, keys("c"), keys("c")).error_class == "extra_rows"
    assert score(question, keys("c"), keys("a", "c")).error_class == "misread"
    target = [{"node_key": "a", "n": 1}, {"node_key": "b", "n": 2}]
    question = task(target, ("node_key", "n"), ("node_key",), mode=mode)
    assert score(question, target[:1], keys("a")).all_properties_correct is True
    assert score(question, [{"node_key": "a", "n": 2}], keys("a")).all_properties_correct is False


@pytest.mark.parametrize(("right", "wrong"), [("1.10", "1.1"), ("1000", "1e3"), ("true", "True")])
def test_a_node_whose_key_looks_like_the_right_one_is_wrong(right, wrong):
    found = score(task(keys(right)), keys(wrong), keys(right, wrong))
    assert (found.correct, found.grounded, found.error_class) == (False, 1.0, "misread")
    assert score(task(keys(right)), keys(wrong), keys(right)).error_class == "invented"
    assert score(task(keys(right)), keys(right), keys(right)).correct
    assert score(task(keys(right)), f"It is {wrong}.", keys(right)).error_class == "unreadable"
