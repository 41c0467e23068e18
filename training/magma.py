"""Train a small model, random or pretrained, on MAGMA's steps, and test base and trained model on unseen graphs.

    python -m training.magma FOLDER [--model NAME_OR_FOLDER] [--algorithm bfs dijkstra] [--strategy is ish]

Training uses the training split at five nodes, the test the test split at five and more nodes. The base is the
untrained model; `scripted/random` guesses in the right form. Data, models and runs that exist are kept.
"""

import argparse
from pathlib import Path

from training.commands import run_module, serve

ROOM = 1024
"""Tokens of a sequence: the chat of all steps at five nodes fits."""
PRETRAINED_RATE = 1e-4
MOST = 40
"""Tokens of a reply; a state of breadth-first search at ten nodes fits."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.magma", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--algorithm", nargs="+", default=["bfs"])
    parser.add_argument("--strategy", nargs="+", default=["is"])
    parser.add_argument("--nodes", nargs="+", type=int, default=[5, 7], help="sizes of the test")
    parser.add_argument("--count", type=int, default=25, help="test graphs of each size")
    parser.add_argument("--model", help="a pretrained model, trained with all weights; default: random weights")
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--steps", type=int, default=660)
    options = parser.parse_args()
    data, base, tuned, run = (options.folder / name for name in ("data", "base", "tuned", "run"))
    if not data.exists():
        words = _repeated("--algorithm", options.algorithm) + _repeated("--strategy", options.strategy)
        run_module("graphwalk", "export", "magma", data, *words, "--nodes", 5, "--split", "train", "--mixed")
    chats = data / "train.jsonl"
    if options.model:
        base = Path(options.model)
    elif not base.exists():
        run_module("training.tiny", base, "--texts", chats, "--layers", options.layers, "--width", options.width)
    if not (tuned / "training.json").exists():
        rate, batch = (PRETRAINED_RATE, 1) if options.model else (1e-3, 2)
        learn = ("--full", "--rate", rate, "--length", ROOM, "--batch", batch, "--save-every", 20)
        run_module("training.tune", chats, "--model", base, "--out", tuned, *learn, "--steps", options.steps)
    if not run.exists():
        test(options, base, tuned, run)
    run_module("graphwalk", "report", run)
    run_module("graphwalk", "compare", run)


def test(options: argparse.Namespace, base: Path, tuned: Path, out: Path) -> None:
    """Run base, tuned model and `scripted/random` on the same tasks."""
    fields = {"algorithm": options.algorithm, "nodes": options.nodes, "count": options.count}
    words = _repeated("-o", [f"suite.traces.0.{name}={value}" for name, value in fields.items()])
    words += _repeated("--setting", options.strategy)
    words += _repeated("--model", ["openai-api/base/magma", "openai-api/tuned/magma", "scripted/random"])
    with serve(base, MOST) as before, serve(tuned, MOST) as after:
        addresses = {"BASE_BASE_URL": before, "TUNED_BASE_URL": after}
        run_module("graphwalk", "run", "magma-one-size", *words, "--out", out, "--max-concurrency", 1, **addresses)


def _repeated(option: str, values: list[str]) -> list[str]:
    return [word for value in values for word in (option, value)]


if __name__ == "__main__":
    main()
