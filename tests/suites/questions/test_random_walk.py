"""The random walk: valid calls, answers of the right form, right now and then; and the baseline with empty answers."""

import json

import pytest_asyncio

from graphwalk.config.agent import AgentConfig
from graphwalk.suites.questions.scripted import MOST_TURNS
from graphwalk.types.episode import ExitStatus
from tests.suites.questions.episodes import Stage, stage

SEEDS = range(6)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def here() -> Stage:
    return await stage(seed=4)


async def test_its_calls_are_valid_and_its_answers_have_the_right_form(here: Stage) -> None:
    for task in here.tasks:
        for seed in SEEDS:
            score, trajectory = await here.play("random", task, seed)
            assert trajectory.exit_status is ExitStatus.ANSWERED
            assert {result.error for result in trajectory.results} == {None}
            assert len(trajectory.turns) <= MOST_TURNS + 1
            assert score.extraction_stage == "strict"
            assert score.extra_fields == score.missing_fields == ()


async def test_it_is_right_now_and_then(here: Stage) -> None:
    right = [(await here.play("random", task, seed))[0].correct for task in here.tasks for seed in SEEDS]
    assert 0 < sum(right) < len(right) * 0.2


async def test_it_invents_no_nodes(here: Stage) -> None:
    for task in here.tasks:
        _, trajectory = await here.play("random", task, 1)
        told = " ".join([task.question, *(result.content for result in trajectory.results)])
        texts = [value for row in json.loads(trajectory.reply) for value in row.values() if isinstance(value, str)]
        assert all(f'"{text}"' in told for text in texts)


async def test_the_same_seed_walks_the_same_way(here: Stage) -> None:
    walks = [(await here.play("random", here.tasks[0], seed))[1] for seed in SEEDS]
    again = [(await here.play("random", here.tasks[0], seed))[1] for seed in SEEDS]
    assert [[turn.message for turn in walk.turns] for walk in walks] == [
        [turn.message for turn in walk.turns] for walk in again
    ]
    assert len({walk.reply for walk in walks}) > 3


async def test_it_guesses_from_what_it_has_when_the_turns_are_used_up(here: Stage) -> None:
    task = next(task for task in here.tasks if task.template == "node_count")
    _, trajectory = await here.play("random", task, 3, AgentConfig(turn_limit=1))
    assert trajectory.exit_status is ExitStatus.TURN_LIMIT
    assert '"count"' in trajectory.reply
