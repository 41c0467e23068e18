"""What is wrong with an experiment is known before its first call."""

from pathlib import Path
from typing import Any

import pytest

from graphwalk.errors import ConfigError, RunLogError
from graphwalk.runner.resolve import resolve
from tests.runner.runs import NOTHING_SET, experiment, start


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"models": ["nobody/nothing"]}, "unknown provider"),
        ({"models": ["gpt-4"]}, "not a model"),
        ({"models": ["openai/gpt-4.1"]}, "OPENAI_API_KEY"),
        ({"models": ["openai-api/mine/m"]}, "MINE_BASE_URL"),
        ({"models": ["scripted/genius"]}, "no scripted/genius"),
        ({"models": ["replay/nowhere"]}, "not a run folder"),
    ],
)
def test_a_model_that_cannot_be_had_is_known_at_once(flags: dict[str, Any], message: str) -> None:
    config = experiment(**flags)
    with pytest.raises((ConfigError, RunLogError), match=message):
        resolve(config, NOTHING_SET)


async def test_a_setting_that_the_suite_does_not_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no setting 'magic'"):
        await start(tmp_path / "run", experiment(settings=["magic"]))
