"""The prompts of mazes, word for word in `tests/data/prompts/mazes.yaml`."""

import yaml

from graphwalk.config.agent import AgentConfig
from graphwalk.suites.loaded_graph import LoadedGraph
from tests.accepted import MAZES, differences
from tests.suites.mazes.stage import Stage, stage

TEXTS = yaml.safe_load(MAZES.read_text("utf-8"))
PLAIN, PAPER = AgentConfig(), AgentConfig(prompts="paper", turn_limit=400)


async def prompt(here: Stage, setting: str, agent: AgentConfig) -> str:
    prompt = await here.task.prompt(LoadedGraph(here.instance, here.store), setting, agent)
    return "\n".join(f"{message.role}: {message.content}" for message in prompt.messages)


async def texts() -> dict[str, str]:
    plain, paper = await stage(), await stage(agent=PAPER, layout="paper")
    return {
        "tools": await prompt(plain, "tools", PLAIN),
        "no_tools": await prompt(plain, "no_tools", PLAIN),
        "paper tools": await prompt(paper, "tools", PAPER),
        "paper no_tools": await prompt(paper, "no_tools", PAPER),
        **{spec.name: spec.description for spec in plain.toolbox().specs},
    }


async def test_prompts_are_these_word_for_word() -> None:
    assert not differences(await texts(), TEXTS, "Prompts of mazes")
