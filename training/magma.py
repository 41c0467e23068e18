"""Teach a model MAGMA in some strategies, a pupil per strategy and seed, and test each beside its base.

    python -m training.magma FOLDER --model base/ --full --strategy io is ish --algorithm bfs dfs --nodes 5 7

Pupils learn from the training split with the same number of tokens each, and are tested on the test split in their own
strategy; the base and `scripted/random`, which guesses in the right form, are tested in every strategy. Data, models
and runs that exist are kept, and unfinished ones are continued. Without `--model` the base has random weights.
"""

import argparse
from pathlib import Path

from training.commands import run_module, serve

ALGORITHMS = ("bfs", "dfs", "dijkstra", "floyd_warshall", "mst_prim")


def options_of() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training.magma", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--algorithm", nargs="+", default=["bfs"], choices=ALGORITHMS)
    parser.add_argument("--strategy", nargs="+", default=["is"], choices=("io", "is", "ish"))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0], help="a pupil per seed of the training")
    parser.add_argument("--train-nodes", nargs="+", type=int, default=[5], help="sizes of the training")
    parser.add_argument("--nodes", nargs="+", type=int, default=[5, 7], help="sizes of the test")
    parser.add_argument("--count", type=int, default=25, help="test graphs of each algorithm and size")
    parser.add_argument("--protocol", default="graphwalk", choices=("graphwalk", "paper"))
    parser.add_argument("--model", help="a pretrained model: a name on the hub, or a folder")
    parser.add_argument("--layers", type=int, default=4, help="layers of a base with random weights")
    parser.add_argument("--width", type=int, default=128, help="width of a base with random weights")
    parser.add_argument("--full", action="store_true", help="all weights, not LoRA")
    parser.add_argument("--lora-r", type=int, default=16)
    parser.add_argument("--lora-alpha", type=int, default=32)
    parser.add_argument("--rate", type=float, default=3e-4, help="highest learning rate")
    parser.add_argument("--tokens", type=int, default=200_000, help="training tokens of each pupil")
    parser.add_argument("--length", type=int, default=1024, help="tokens of a packed sequence")
    parser.add_argument("--reply", type=int, default=256, help="most tokens of a reply")
    return parser.parse_args()


def main() -> None:
    options = options_of()
    options.folder.mkdir(parents=True, exist_ok=True)
    chats = {strategy: made_chats(options, strategy) for strategy in options.strategy}
    base = Path(options.model) if options.model else options.folder / "base"
    if not base.exists() and not options.model:
        size = ("--layers", options.layers, "--width", options.width)
        run_module("training.tiny", base, "--texts", *chats.values(), *size)
    runs = []
    for name in [f"{strategy}-{seed}" for seed in options.seeds for strategy in options.strategy]:
        strategy, seed = name.split("-")
        run(options, taught(options, chats[strategy], base, seed, name), name, [strategy])
        runs.append(options.folder / f"run-{name}")
    run(options, base, "base", options.strategy)
    for folder in (*runs, options.folder / "run-base"):
        run_module("graphwalk", "report", folder)
    run_module("graphwalk", "compare", *runs, options.folder / "run-base")


def made_chats(options: argparse.Namespace, strategy: str) -> Path:
    """Return the training chats of a strategy: algorithms and sizes mixed."""
    data = options.folder / f"data-{strategy}"
    if not data.exists():
        grid = [*_repeated("--algorithm", options.algorithm), *_repeated("--nodes", options.train_nodes)]
        kind = ("--strategy", strategy, "--split", "train", "--mixed", "--protocol", options.protocol)
        run_module("graphwalk", "export", "magma", data, *grid, *kind)
    return data / "train.jsonl"


def taught(options: argparse.Namespace, chats: Path, base: Path, seed: str, name: str) -> Path:
    """Return the folder of a pupil."""
    out = options.folder / f"taught-{name}"
    if not (out / "training.json").exists():
        weights = ("--full",) if options.full else ("--lora-r", options.lora_r, "--lora-alpha", options.lora_alpha)
        budget = ("--tokens", options.tokens, "--length", options.length, "--save-every", 25)
        place = ("--model", base, "--out", out, "--seed", seed, "--rate", options.rate)
        run_module("training.tune", chats, *place, *weights, *budget)
    return out


def run(options: argparse.Namespace, model: Path, name: str, strategies: list[str]) -> None:
    """Test a model in strategies on the test split; a run that was interrupted is resumed."""
    out = options.folder / f"run-{name}"
    fields = {"algorithm": options.algorithm, "nodes": options.nodes, "count": options.count}
    words = _repeated("-o", [f"suite.traces.0.{field}={value}" for field, value in fields.items()])
    words += [*_repeated("--setting", strategies), "--model", f"openai-api/{name}/smollm"]
    words += ["--model", "scripted/random"] if name == "base" else []
    with serve(model, options.reply) as address:
        if out.exists():
            words = ["resume", str(out)]
        else:
            words = ["run", "magma-one-size", *words, "--protocol", options.protocol, "--out", str(out)]
        server = {f"{name.upper().replace('-', '_')}_BASE_URL": address}
        run_module("graphwalk", *words, "--max-concurrency", 8, **server)


def _repeated(option: str, values: list[str] | list[int]) -> list[str]:
    return [word for value in values for word in (option, str(value))]


if __name__ == "__main__":
    main()
