"""Requests and logs of random conversations are what they were: `tests/data/conversations.json` has their digests."""

import hashlib
import json
import logging
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from tests.accepted import CONVERSATIONS, differences
from tests.agent.random_episodes import random_episode
from tests.agent.random_histories import random_history
from tests.test_golden import untimed

EPISODES = range(300)
HISTORIES = range(60)
ACCEPTED = json.loads(CONVERSATIONS.read_text())


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Log nothing of the errors that the random tools raise."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def digest(conversation: Any) -> str:
    text = json.dumps(untimed(conversation), sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


async def episode_digests(seeds: Iterable[int] = EPISODES) -> dict[str, str]:
    return {f"episode {seed}": digest(await random_episode(seed)) for seed in seeds}


def history_digests(seeds: Iterable[int] = HISTORIES) -> dict[str, str]:
    return {f"history {seed}": digest(random_history(seed)) for seed in seeds}


def accepted(kind: str, now: dict[str, str]) -> dict[str, str]:
    return {name: ACCEPTED[kind][name] for name in now}


async def test_random_episodes_send_and_log_what_they_did() -> None:
    now = await episode_digests(EPISODES[:80])
    assert not differences(now, accepted("episodes", now), "random episodes")


def test_random_histories_send_and_become_what_they_did() -> None:
    now = history_digests(HISTORIES[:15])
    assert not differences(now, accepted("histories", now), "random histories")


@pytest.mark.extended
async def test_more_random_conversations() -> None:
    episodes = await episode_digests(EPISODES[80:])
    histories = history_digests(HISTORIES[15:])
    assert not differences(episodes, accepted("episodes", episodes), "random episodes")
    assert not differences(histories, accepted("histories", histories), "random histories")


@pytest.mark.extended
async def test_every_kind_of_end_occurs_in_the_random_episodes() -> None:
    ends = {(await random_episode(seed))[0]["exit_status"] for seed in EPISODES}
    assert ends >= {"answered", "no_answer", "turn_limit", "call_limit", "token_limit", "budget", "model_error"}
