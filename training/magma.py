"""Teach a model MAGMA in some strategies, a pupil per strategy and seed, and test each beside its base.

    python -m training.magma FOLDER --model base/ --full --strategy io is --algorithm bfs dfs --nodes 5 7

Pupils learn from the training split with the same number of tokens each, and are tested on the test split in their
own strategy; those of `is` also after their own states, on fewer graphs. On these the base and `scripted/random`,
which guesses in the right form, are tested in every strategy.
Data, models and runs that exist are kept, and unfinished ones are continued.
"""

import argparse
from pathlib import Path

from graphwalk.suites.magma.prompts import OWN_STATES
from training.commands import BASE_REPLY, add_pupil_options, compare, play, run_module, taught

ALGORITHMS = ("bfs", "dfs", "dijkstra", "floyd_warshall", "mst_prim")
FEW = 5
"""Most test graphs of each algorithm and size in the tests of the base, whose replies are long."""


def options_of() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training.magma", description=__doc__)
    add_pupil_options(parser)
    parser.add_argument("--algorithm", nargs="+", default=["bfs"], choices=ALGORITHMS)
    parser.add_argument("--strategy", nargs="+", default=["is"], choices=("io", "is"))
    parser.add_argument("--train-nodes", nargs="+", type=int, default=[5], help="sizes of the training")
    parser.add_argument("--nodes", nargs="+", type=int, default=[5, 7], help="sizes of the test")
    parser.add_argument("--count", type=int, default=25, help="test graphs of each algorithm and size")
    parser.add_argument("--protocol", default="graphwalk", choices=("graphwalk", "paper"))
    parser.set_defaults(reply=384)  # a matrix of seven nodes has 249 tokens
    return parser.parse_args()


def main() -> None:
    options = options_of()
    options.folder.mkdir(parents=True, exist_ok=True)
    chats = {strategy: made_chats(options, strategy) for strategy in options.strategy}
    base = Path(options.model)
    few = argparse.Namespace(**{**vars(options), "count": min(options.count, FEW)})
    runs = []
    for seed in options.seeds:
        for strategy in options.strategy:
            name = f"{strategy}-{seed}"
            pupil = taught(options, chats[strategy], base, seed, name)
            ask(options, pupil, name, [strategy])
            runs.append(options.folder / f"run-{name}")
            if strategy == "is":
                ask(few, pupil, f"{name}-free", [OWN_STATES])
                runs.append(options.folder / f"run-{name}-free")
    few.reply = min(options.reply, BASE_REPLY)
    ask(few, base, "base", options.strategy, "--model", "scripted/random")
    compare([*runs, options.folder / "run-base"])


def made_chats(options: argparse.Namespace, strategy: str) -> Path:
    """Return the training chats of a strategy: algorithms and sizes mixed."""
    chats: Path = options.folder / f"train-{strategy}.jsonl"
    if not chats.exists():
        grid = [*_repeated("--algorithm", options.algorithm), *_repeated("--nodes", options.train_nodes)]
        kind = ("--strategy", strategy, "--protocol", options.protocol)
        run_module("graphwalk", "generate", "magma", "--out", chats, *grid, *kind)
    return chats


def ask(
    options: argparse.Namespace,
    model: Path,
    name: str,
    strategies: list[str],
    *models: str,
) -> None:
    """Test a model in strategies on the test split."""
    fields = {"algorithm": options.algorithm, "nodes": options.nodes, "count": options.count}
    grid = _repeated("-o", [f"suite.traces.0.{field}={value}" for field, value in fields.items()])
    settings = _repeated("--setting", strategies)
    play(options, model, name, ["magma-paper", *grid, *settings, "--protocol", options.protocol, *models])


def _repeated(option: str, values: list[str] | list[int]) -> list[str]:
    return [word for value in values for word in (option, str(value))]


if __name__ == "__main__":
    main()
