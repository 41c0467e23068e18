"""Scores of answers made by hand, on a maze with a single way."""

import asyncio
import json
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

from graphwalk.models.chat import Message, ToolCall
from graphwalk.models.trajectory import ExitStatus, ToolResult, Trajectory, Turn
from tests.explained import explained_score
from tests.suites.mazes.stage import SMALL, stage

TASK = asyncio.run(stage()).task
WAY = [0, 1, 2, 3, 7, 11, 15, 14, 13, 9, 8]


def score(reply: str, results: tuple[ToolResult, ...] = (), setting: str = "tools", **changes: Any) -> SimpleNamespace:
    turns = [Turn(Message("assistant"), results=results)] if results else []
    status = changes.get("exit_status", ExitStatus.ANSWERED)
    trajectory = Trajectory((), (*turns, Turn(Message("assistant", reply))), status)
    return explained_score(TASK, setting, trajectory, TASK.read(reply))


def of(path: list[Any]) -> SimpleNamespace:
    return score(json.dumps({"path": [str(cell) for cell in path]}))


def test_a_shortest_path_and_one_with_a_detour() -> None:
    shortest, detour = of(WAY), of([0, 1, 0, *WAY[1:]])
    assert shortest.correct
    assert (shortest.optimal, detour.optimal) == (True, False)
    assert shortest.error_class is detour.error_class is None
    assert (shortest.precision, shortest.recall, shortest.f1, shortest.false_positives) == (1.0, 1.0, 1.0, 0)
    forced = score(json.dumps({"path": WAY}), exit_status=ExitStatus.CALL_LIMIT)
    assert (forced.correct, forced.strict_correct) == (True, False)


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ([], "no_answer"),
        (WAY[::-1], "wrong_start"),
        (WAY[:-1], "wrong_goal"),
        ([*WAY, 9], "wrong_goal"),
        ([0, 8], "not_adjacent"),
        ([0, 0, *WAY[1:]], "not_adjacent"),
        ([0, 4, 8], "through_wall"),
        ([0, 1, 2, 3, 4, 8], "through_wall"),
        ([0, 16, 8], "out_of_grid"),
        ([0, "S", 8], "out_of_grid"),
        ([0, "01", 8], "out_of_grid"),
    ],
    ids=str,
)
def test_error_classes(path: list[Any], error: str) -> None:
    result = of(path)
    assert (result.correct, result.f1, result.optimal) == (False, 0.0, False)
    assert result.error_class == error
    assert result.false_positives == sum(str(cell) not in map(str, range(16)) or cell in SMALL.walls for cell in path)


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        ("", "no_answer"),
        ('{"path": []}', "no_answer"),
        ("There is no way.", "unreadable"),
        ('{"path": [0, 1.5]}', "unreadable"),
        ('{"path": [[0, 0], [0, 1]]}', "unreadable"),
    ],
)
def test_replies_without_a_path(reply: str, error: str) -> None:
    result = score(reply)
    assert not result.correct
    assert result.error_class == error


def listed(node_id: str, *keys: str, name: str = "get_next_possible_cells") -> ToolResult:
    rows = [{"key": key, "euclidean_distance": 1.0} for key in keys]
    return ToolResult(ToolCall("1", name, json.dumps({"node_id": node_id})), json.dumps(rows), rows=len(rows))


def test_grounded_is_the_share_of_steps_that_results_have_shown() -> None:
    results = (listed("0", "1"), listed("2", "1", "3"))
    assert score(json.dumps({"path": [0, 1, 2, 3]}), results).grounded == 1.0
    assert score(json.dumps({"path": [0, 1, 2, 3, 7]}), results).grounded == 0.75
    assert score(json.dumps({"path": [0, 2]}), results).grounded == 0.0
    assert score(json.dumps({"path": [0, 1]}), setting="no_tools").grounded is None
    assert score(json.dumps({"path": [0, 1]}), (listed("0", "1", name="own"),)).grounded is None
    assert score(json.dumps({"path": WAY}), tuple(listed(str(cell)) for cell in WAY)).grounded == 0.0


def test_a_valid_path_is_proven_by_results_that_show_all_its_steps() -> None:
    path, shown = json.dumps({"path": WAY}), tuple(listed(str(one), str(other)) for one, other in pairwise(WAY))
    assert score(path, shown).proven is True
    assert score(path, shown[:-1]).proven is False
    assert score("", shown).proven is False
    assert score(path, (listed("0", "1", name="own"),)).proven is None
    assert score(path, setting="no_tools").proven is None
