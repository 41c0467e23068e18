"""Scores of answers made by hand, on a maze with a single way."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphwalk.suites.mazes.score import extract_path, score_path, steps_of
from graphwalk.suites.mazes.suite import make_task
from graphwalk.suites.mazes.task import MazeScore
from graphwalk.types.chat import Message, ToolCall
from graphwalk.types.episode import ExitStatus, ToolResult, Trajectory, Turn
from tests.suites.mazes.stage import SMALL

TASK = make_task(SMALL, "d" * 64)
WAY = [0, 1, 2, 3, 7, 11, 15, 14, 13, 9, 8]


def score(reply: str, results: tuple[ToolResult, ...] = (), setting: str = "tools", **changes: Any) -> MazeScore:
    turns = [Turn(Message("assistant"), results=results)] if results else []
    status = changes.get("exit_status", ExitStatus.ANSWERED)
    trajectory = Trajectory((), (*turns, Turn(Message("assistant", reply))), status)
    return score_path(TASK.maze, setting, trajectory, extract_path(reply))


def of(path: list[Any]) -> MazeScore:
    return score(json.dumps({"path": [str(cell) for cell in path]}))


def visit(node_id: Any, error: str | None = None, name: str = "get_next_possible_cells") -> ToolResult:
    return ToolResult(ToolCall("1", name, json.dumps({"node_id": node_id})), "[]", error)


def test_a_shortest_path_and_one_with_a_detour() -> None:
    shortest, detour = of(WAY), of([0, 1, 0, *WAY[1:]])
    assert shortest.correct
    assert shortest.valid
    assert (shortest.optimal, detour.optimal) == (True, False)
    assert (shortest.path_length, shortest.length_ratio, shortest.error_class) == (10, 1.0, None)
    assert (shortest.precision, shortest.recall, shortest.f1, shortest.false_positives) == (1.0, 1.0, 1.0, 0)
    assert (detour.valid, detour.path_length, detour.length_ratio, detour.repeated_cells) == (True, 12, 1.2, 2)
    forced = score(json.dumps({"path": WAY}), exit_status=ExitStatus.CALL_LIMIT)
    assert (forced.correct, forced.strict_correct) == (True, False)


@pytest.mark.parametrize(
    ("path", "error", "counts"),
    [
        ([], "no_answer", (0, 0, 0)),
        (WAY[1:], "wrong_start", (0, 0, 0)),
        (WAY[::-1], "wrong_start", (0, 0, 0)),
        (WAY[:-1], "wrong_goal", (0, 0, 0)),
        ([0], "wrong_goal", (0, 0, 0)),
        ([*WAY, 9], "wrong_goal", (1, 0, 0)),
        ([0, 8], "not_adjacent", (0, 0, 1)),
        ([0, 1, 3, *WAY[4:]], "not_adjacent", (0, 0, 1)),
        ([0, 0, *WAY[1:]], "not_adjacent", (1, 0, 1)),
        ([0, 4, 8], "through_wall", (0, 1, 0)),
        ([4, 8], "through_wall", (0, 1, 0)),
        ([0, 1, 5, 8], "through_wall", (0, 1, 1)),
        ([3, 4], "wrong_start", (0, 1, 1)),
        ([0, 1, 2, 3, 4, 8], "through_wall", (0, 1, 1)),
        ([0, 16, 8], "out_of_grid", (0, 0, 2)),
        ([-4, 0, 8], "out_of_grid", (0, 0, 2)),
        ([0, "S", 8], "out_of_grid", (0, 0, 2)),
        ([0, 1, 2, 3, 4], "through_wall", (0, 1, 1)),
        ([0, "01", 8], "out_of_grid", (0, 0, 2)),
        ([0, "9" * 40, 8], "out_of_grid", (0, 0, 2)),
    ],
    ids=str,
)
def test_error_classes(path: list[Any], error: str, counts: tuple[int, int, int]) -> None:
    result = of(path)
    assert (result.valid, result.correct, result.f1, result.length_ratio) == (False, False, 0.0, None)
    assert result.error_class == error
    assert (result.repeated_cells, result.wall_hits, result.teleports) == counts
    assert result.false_positives == result.wall_hits + sum(str(cell) not in map(str, range(16)) for cell in path)


@pytest.mark.parametrize(
    ("reply", "stage"),
    [
        (json.dumps({"path": [str(c) for c in WAY]}), "strict"),
        (json.dumps({"path": [f" {cell} " for cell in WAY]}), "strict"),
        (json.dumps([str(c) for c in WAY]), "strict"),
        (f"Seen [1], [2, 3] and {{'x': 1}}.\n```json\n{json.dumps({'path': WAY})}\n```", "fenced"),
        (json.dumps({"answer": {"path": WAY}}), "wrapped"),
        (json.dumps({"route": WAY}), "wrapped"),
    ],
)
def test_readable_replies(reply: str, stage: str) -> None:
    result = score(reply)
    assert result.valid
    assert result.extraction_stage == stage


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        ("", "no_answer"),
        ("[]", "no_answer"),
        ('{"path": []}', "no_answer"),
        ("There is no way.", "unreadable"),
        ('{"path": [0, 1.5]}', "unreadable"),
        ('{"path": [true]}', "unreadable"),
        ('{"path": "0, 1, 2"}', "unreadable"),
        ('{"path": [[0, 0], [0, 1]]}', "unreadable"),
    ],
)
def test_replies_without_a_path(reply: str, error: str) -> None:
    result = score(reply)
    assert not result.valid
    assert result.error_class == error
    assert result.path_length is None


def test_the_walk_is_counted() -> None:
    results = (
        visit("0"),
        visit("1"),
        visit("1"),
        visit("5", "wall"),
        visit("9"),
        visit("13"),
        visit("77", "unknown_cell"),
        visit(3, "not_text"),
        visit("8", name="get_possible_next_cells"),
        ToolResult(ToolCall("1", "get_connected_path", "{}"), "[]"),
        ToolResult(ToolCall("1", "get_next_possible_cells", "{"), "?", "bad_json"),
        ToolResult(ToolCall("1", "fly", "{}"), "?", "unknown_tool"),
    )
    result = score(json.dumps({"path": WAY}), results)
    assert (result.visited, result.revisits, result.jumps, result.wall_calls, result.tool_errors) == (5, 1, 1, 1, 5)
    assert (result.calls, result.goal_visited) == (12, True)
    assert [step.kind for step in steps_of(SMALL, [visit("1"), visit("0")])].count(
        "jump"
    ) == 1  # the first visit, unless it is the start
    kinds = [step.kind for step in steps_of(SMALL, results)]
    assert kinds == [
        *("visit", "visit", "revisit", "wall", "jump", "visit"),
        *("refused", "refused", "visit", "path", "refused", "refused"),
    ]


def listed(node_id: str, *keys: str, name: str = "get_next_possible_cells") -> ToolResult:
    rows = [{"key": key, "euclidean_distance": 1.0} for key in keys]
    return ToolResult(ToolCall("1", name, json.dumps({"node_id": node_id})), json.dumps(rows), rows=len(rows))


def test_grounded_is_the_share_of_steps_that_results_have_shown() -> None:
    results = (listed("0", "1"), listed("2", "1", "3"))
    assert score(json.dumps({"path": [0, 1, 2, 3]}), results).grounded == 1.0
    assert score(json.dumps({"path": [0, 1, 2, 3, 7]}), results).grounded == 0.75
    assert score(json.dumps({"path": [0, 2]}), results).grounded == 0.0
    assert score(json.dumps({"path": [3]}), results).grounded == 1.0
    assert score(json.dumps({"path": [7]}), results).grounded == 0.0
    assert score(json.dumps({"path": [0, 1]})).grounded == 0.0
    assert score(json.dumps({"path": [0, 1]}), setting="no_tools").grounded is None
    assert score(json.dumps({"path": [0, 1]}), (listed("0", "1", name="own"),)).grounded is None
    assert score("").grounded is None
    assert score(json.dumps({"path": [0]}), (listed("0", "1"),)).grounded == 1.0
    assert score(json.dumps({"path": WAY}), tuple(listed(str(cell)) for cell in WAY)).grounded == 0.0


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["0", "1", "8", "S0", "-1"]),
    lambda inner: (
        st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=4) | st.just("path"), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(answer=JSON, arguments=JSON, error=st.sampled_from([None, "wall", "bad_json"]))
@settings(max_examples=150, deadline=None)
def test_no_answer_and_no_call_is_too_odd_to_be_scored(answer: Any, arguments: Any, error: str | None) -> None:
    call = ToolCall("1", "get_next_possible_cells", json.dumps(arguments))
    result = score(json.dumps(answer), (ToolResult(call, "", error), visit(arguments, error)))
    assert result.valid == (result.error_class is None)
    assert not result.valid
    assert result.calls == 2
