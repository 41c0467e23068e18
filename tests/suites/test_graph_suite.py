"""The prompts of suites on one graph."""

import pytest

from graphwalk.environments.stage import Stage

SEARCHING = ["search_nodes", "get_all_nearest_neighbors"]


@pytest.mark.parametrize(
    ("experiment", "tools", "search"),
    [
        ("quickstart", None, False),
        ("quickstart", SEARCHING, True),
        ("own-questions", None, True),
        ("own-questions", SEARCHING[1:], False),
        ("own-questions", SEARCHING, True),
    ],
)
async def test_a_prompt_says_whether_a_tool_searches(experiment: str, tools: list[str] | None, search: bool) -> None:
    flags = {"models": ["openai/any"], "settings": ["tools"], "limit": 1}
    stage = await Stage.open(experiment, **flags, **({} if tools is None else {"agent.tools": tools}))
    episode = await stage.begin(0)
    assert ("No tool searches" not in str(episode.prompt[0].content)) is search
    assert any(tool.name == "search_nodes" for tool in episode.tools) is search
    await stage.close()
