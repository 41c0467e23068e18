"""Print how many episodes of 1,000 tasks an environment begins, walks one step and ends, 64 at once.

python -m benchmarks.environment_episodes
"""

import asyncio
import json
import time

from graphwalk.environments.stage import shared_stage
from graphwalk.runs.playing.background import run_in_background

SUITE = {"name": "questions", "graphs": [{"preset": "paper-100", "count": 100}]}
EXPERIMENT = json.dumps({"name": "many", "suite": SUITE, "settings": ["tools"], "limit": 1000})


async def play_all(keys: list[tuple[str, str]]) -> None:
    at_once = asyncio.Semaphore(64)

    async def play(task_id: str, setting: str) -> None:
        async with at_once:
            stage = await asyncio.to_thread(shared_stage, EXPERIMENT)
            episode = await stage.begin(stage.number_of(task_id, setting), listed_once=True)
            await episode.call(("think", {"thought": "a"}))
            episode.reply("[]")

    await asyncio.gather(*(play(*key) for key in keys))


def main() -> None:
    keys = [(one.key.task_id, one.key.setting) for one in shared_stage(EXPERIMENT).planned]
    opened = time.process_time()
    run_in_background(play_all(keys))
    seconds = time.process_time() - opened
    print(f"opened in {opened:.1f} s; {len(keys)} episodes in {seconds:.2f} s, {len(keys) / seconds:.0f}/s (processor)")


if __name__ == "__main__":
    main()
