"""What cheap policies earn by the reward, and by its parts alone; writes the table of docs/training.md."""

import asyncio
import sys
from collections.abc import Mapping
from statistics import fmean

from benchmarks.cheap_policies import POLICIES, MakePolicy
from benchmarks.markers import DOCS, markdown_table, write_between_markers
from graphwalk.agent import Episode, run_episode
from graphwalk.environments.stage import Stage
from graphwalk.models.scripted import ScriptedModel
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.training.reward import Reward, reward

PAGE = DOCS / "training.md"
EXPERIMENT = {
    "name": "reward-hacking",
    "suite": {"name": "questions", "graphs": [{"nodes": 40, "count": 2}]},
    "seed": 7,
}
PARTS = ("total", "exact", "f1", "evidence", "waste", "calls", "format")


async def earned_by(stage: Stage, make: MakePolicy, name: str) -> list[Reward]:
    """One reward per task, in order."""
    earned = []
    for planned in stage.planned:
        task, store = planned.task, planned.graph.store
        assert isinstance(task, QuestionTask)
        assert store is not None
        model = ScriptedModel(name, make(task, await store.schema()))
        walk = Episode(await planned.setup(stage.experiment), model, stage.experiment.agent, stage.experiment.options)
        found = reward(task, await run_episode(walk))
        assert found is not None
        earned.append(found)
    return earned


async def measured(experiment: Mapping[str, object]) -> dict[str, list[Reward]]:
    stage = await Stage.open(experiment)
    try:
        return {name: await earned_by(stage, make, name) for name, make in POLICIES.items()}
    finally:
        await stage.close()


def mean(rewards: list[Reward], part: str) -> str:
    values = [value for value in (getattr(found, part) for found in rewards) if value is not None]
    return f"{fmean(values):.2f}" if values else "–"


def main() -> None:
    print("two graphs of 40 nodes …", file=sys.stderr, flush=True)
    found = asyncio.run(measured(EXPERIMENT))
    rows = [[name, *(mean(rewards, part) for part in PARTS)] for name, rewards in found.items()]
    table = markdown_table(["policy", "reward", *PARTS[1:]], rows)
    print(table)
    write_between_markers(PAGE, "reward-hacking", table)


if __name__ == "__main__":
    main()
