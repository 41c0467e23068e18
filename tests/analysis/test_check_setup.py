"""The scripted expert under the limits of a run."""

from typing import Any

import pytest

from graphwalk.analysis.check_setup import check_setup
from graphwalk.experiments.loading import load_experiment
from graphwalk.runs.episodes.resolve import resolve
from tests.cli.test_commands import graphwalk
from tests.runs.runs import NOTHING_SET

PAPER_100: dict[str, Any] = {
    "name": "p",
    "seed": 5,
    "suite": {"name": "questions", "graphs": [{"preset": "paper-100"}]},
}


async def solved(**flags: Any) -> dict[str, tuple[int, int] | None]:
    return await check_setup(resolve(load_experiment(PAPER_100, flags=flags), NOTHING_SET, keys=False))


@pytest.mark.parametrize(
    ("limits", "right"),
    [
        ({"agent.turn_limit": 1}, 2),
        ({"agent.turn_limit": 2}, 7),
        ({"agent.turn_limit": 3}, 12),
        ({"agent.call_limit": 20}, 9),
        ({"options.max_output_tokens": 256}, 7),
        ({"limits.context_tokens": 100}, 0),
    ],
    ids=str,
)
async def test_limits_of_the_run_hold_for_the_expert(limits: dict[str, int], right: int) -> None:
    assert await solved(**limits) == {"tools": (right, 12)}


async def test_a_window_is_smaller_for_tools_in_the_prompt() -> None:
    native = await solved(**{"limits.context_tokens": 16_000, "agent.tool_protocol": "native"})
    text = await solved(**{"limits.context_tokens": 16_000, "agent.tool_protocol": "text"})
    assert native["tools"] is not None
    assert text["tools"] is not None
    assert 0 < text["tools"][0] <= native["tools"][0] < 12


async def test_it_is_not_known_where_no_scripted_agent_plays() -> None:
    flags = {"settings": ["tools", "no_tools"], "models": ["openai/gpt-4.1-mini"], "limit": 2}
    assert await solved(**flags) == {"tools": (2, 2), "no_tools": None}


def test_the_command_prints_shares(tmp_path: Any) -> None:
    done = graphwalk("run", "quickstart", "--check-setup", "--json", "--graphs", "1", "--limit", "4", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert '"expert": {\n    "tools": 1.0\n  }' in done.stdout
    assert not list(tmp_path.iterdir())
