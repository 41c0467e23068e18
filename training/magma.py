"""A small model learns MAGMA's steps, from scratch or pretrained: data, base, training, and both models asked about
unseen graphs.

    python -m training.magma FOLDER [--model NAME_OR_FOLDER] [--algorithm bfs dijkstra] [--strategy is ish]

It learns on the training split at five nodes, and is asked about the test split at five and at more nodes. The base is
the model before it has learnt; `scripted/random` guesses in the right form. What is there already is not made again.
"""

import argparse
from pathlib import Path

from training.commands import said, served

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
    parser.add_argument("--nodes", nargs="+", type=int, default=[5, 7], help="sizes that are asked about")
    parser.add_argument("--count", type=int, default=25, help="graphs of each size that are asked about")
    parser.add_argument("--model", help="a pretrained one, all of whose weights learn on; else one is drawn at random")
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--steps", type=int, default=660)
    options = parser.parse_args()
    data, base, tuned, run = (options.folder / name for name in ("data", "base", "tuned", "run"))
    if not data.exists():
        given = _repeated("--algorithm", options.algorithm) + _repeated("--strategy", options.strategy)
        said("graphwalk", "export", "magma", data, *given, "--nodes", 5, "--split", "train", "--mixed")
    chats = data / "train.jsonl"
    if options.model:
        base = Path(options.model)
    elif not base.exists():
        said("training.tiny", base, "--texts", chats, "--layers", options.layers, "--width", options.width)
    if not (tuned / "training.json").exists():
        rate, batch = (PRETRAINED_RATE, 1) if options.model else (1e-3, 2)
        learn = ("--full", "--rate", rate, "--length", ROOM, "--batch", batch, "--save-every", 20)
        said("training.tune", chats, "--model", base, "--out", tuned, *learn, "--steps", options.steps)
    if not run.exists():
        asked(options, base, tuned, run)
    said("graphwalk", "report", run)
    said("graphwalk", "compare", run)


def asked(options: argparse.Namespace, base: Path, tuned: Path, out: Path) -> None:
    """One run, in which base, tuned model and guesser are asked the same."""
    fields = {"algorithm": options.algorithm, "nodes": options.nodes, "count": options.count}
    given = _repeated("-o", [f"suite.traces.0.{name}={value}" for name, value in fields.items()])
    given += _repeated("--setting", options.strategy)
    given += _repeated("--model", ["openai-api/base/magma", "openai-api/tuned/magma", "scripted/random"])
    with served(base, MOST) as before, served(tuned, MOST) as after:
        addresses = {"BASE_BASE_URL": before, "TUNED_BASE_URL": after}
        said("graphwalk", "run", "magma-one-size", *given, "--out", out, "--max-concurrency", 1, **addresses)


def _repeated(option: str, values: list[str]) -> list[str]:
    return [word for value in values for word in (option, value)]


if __name__ == "__main__":
    main()
