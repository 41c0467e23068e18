"""The text of a setting with its variant."""

import pytest

from graphwalk.runs.record import EpisodeKey
from graphwalk.suites.setting import Setting


@pytest.mark.parametrize(
    ("text", "setting"),
    [
        ("no_tools", Setting("no_tools")),
        ("tools:turn_limit=5", Setting("tools", "turn_limit=5")),
        ("tools:prompts=./a:b", Setting("tools", "prompts=./a:b")),
    ],
)
def test_a_setting_is_read_from_the_text_that_it_is_written_as(text: str, setting: Setting) -> None:
    assert Setting.parse(text) == setting
    assert str(setting) == text


def test_episodes_are_in_the_order_of_the_texts_of_their_settings() -> None:
    texts = ["write_cypher", "tools:turn_limit=5", "tools", "no_tools", "tools:turn_limit=10"]
    keys = [EpisodeKey("task", "model", Setting.parse(text), 0) for text in texts]
    assert [key.as_dict()["setting"] for key in sorted(keys)] == sorted(texts)
