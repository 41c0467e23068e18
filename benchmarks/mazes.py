"""How fast mazes are generated, and how many calls the explorers need on them.

    python benchmarks/mazes.py [--count 2000] [--walks 200]

Processor time, so that other work on the machine counts little.
"""

import argparse
import asyncio
import time

from graphwalk.seeds import stdlib_random
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.mazes.config import MazeSpec
from graphwalk.suites.mazes.generate import LAYOUTS, generate_maze, generate_mazes, maze_graph
from graphwalk.suites.mazes.scripted import agent_named
from graphwalk.suites.mazes.suite import make_task
from graphwalk.suites.mazes.toolbox import MazeToolbox
from graphwalk.suites.reference import drive

LARGE = (
    MazeSpec(size=50),
    MazeSpec(size=100),
    MazeSpec(size=200),
    MazeSpec(size=200, walls=0.35, min_path=200),
    MazeSpec(size=200, generator="wilson", min_path=300),
)


def generation(count: int) -> None:
    """Mazes per second of the default spec by every generator, and seconds for single large mazes."""
    for generator in LAYOUTS:
        spec = MazeSpec(generator=generator, count=count if generator == "random" else max(1, count // 10))
        generate_maze(spec, 0)  # libraries are imported before the clock starts
        begun = time.process_time()
        made = list(generate_mazes(spec, 1))
        print(f"{generator:12} {len(made) / (time.process_time() - begun):8.0f} mazes/s", flush=True)
    for spec in LARGE:
        begun = time.process_time()
        maze = generate_maze(spec, 1)
        seconds = time.process_time() - begun
        print(
            f"{spec.generator} {maze.size} × {maze.size}, {maze.shortest_path_length} steps: {seconds:.2f} s",
            flush=True,
        )


async def calls(walks: int) -> None:
    """Tool calls of the explorers on mazes of the default spec, the call for the path among them."""
    counts: dict[str, list[int]] = {"expert": [], "depth_first": []}
    begun = time.process_time()
    for maze in generate_mazes(MazeSpec(count=walks), 1):
        graph = maze_graph(maze)
        store = await EmbeddedDatabase().load(graph)
        task = make_task(maze, graph.digest)
        for name, made in counts.items():
            policy = agent_named(name, str(task.start), str(task.goal), stdlib_random(0, name))
            made.append((await drive(policy, MazeToolbox(store, task.size, str(task.start)))).calls)
    spent = time.process_time() - begun
    for name, made in counts.items():
        many = sum(number > 29 for number in made)  # with the answer, more than 30 turns
        average = sum(made) / len(made)
        print(
            f"{name:12} {average:5.1f} calls on average, {max(made)} at most, {many} of {walks} too many for 30 turns"
        )
    print(f"{sum(map(sum, counts.values())) / spent:.0f} calls/s, loading the mazes included")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--walks", type=int, default=200)
    options = parser.parse_args()
    generation(options.count)
    asyncio.run(calls(options.walks))


if __name__ == "__main__":
    main()
