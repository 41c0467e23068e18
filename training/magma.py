"""A small model from scratch learns MAGMA's steps: data, base, training, and both models asked about unseen graphs.

    python -m training.magma FOLDER [--algorithm bfs] [--steps 1500]

It learns on the training split at five nodes, and is asked about the test split at five and at more nodes. The base is
the model before it has learnt; `scripted/random` guesses in the right form. What is there already is not made again.
"""

import argparse
from pathlib import Path

from training.commands import said, served

ROOM = 1024
"""Tokens of a sequence: a chat of all steps at five nodes fits."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.magma", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--algorithm", nargs="+", default=["bfs"])
    parser.add_argument("--strategy", nargs="+", default=["io", "is", "ish"])
    parser.add_argument("--nodes", nargs="+", type=int, default=[5, 7], help="sizes that are asked about")
    parser.add_argument("--count", type=int, default=25, help="graphs of each size that are asked about")
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--batch", type=int, default=8)
    options = parser.parse_args()
    data, base, tuned = (options.folder / name for name in ("data", "base", "tuned"))
    if not data.exists():
        listed = (
            word
            for name in ("algorithm", "strategy")
            for value in getattr(options, name)
            for word in (f"--{name}", value)
        )
        said("graphwalk", "export", "magma", data, *listed, "--nodes", 5, "--split", "train", "--mixed")
    chats = data / "train.jsonl"
    if not base.exists():
        said("training.tiny", base, "--texts", chats, "--layers", options.layers, "--width", options.width)
    learn = ("--full", "--rate", 1e-3, "--length", ROOM, "--batch", options.batch, "--steps", options.steps)
    said("training.tune", chats, "--model", base, "--out", tuned, *learn)
    for model in (base, tuned):
        asked(options, model)
    said("graphwalk", "compare", *(options.folder / f"run-{model.name}" for model in (base, tuned)))


def asked(options: argparse.Namespace, model: Path) -> None:
    """A run of this model and of the guesser."""
    out = options.folder / f"run-{model.name}"
    if out.exists():
        return
    with served(model, most=64) as address:
        fields = {"algorithm": options.algorithm, "nodes": options.nodes, "count": options.count}
        given = (word for name, value in fields.items() for word in ("-o", f"suite.traces.0.{name}={value}"))
        settings = (word for name in options.strategy for word in ("--setting", name))
        models = ("--model", f"openai-api/local/{model.name}", "--model", "scripted/random", "--max-concurrency", 1)
        said("graphwalk", "run", "magma-one-size", "--out", out, *given, *settings, *models, LOCAL_BASE_URL=address)


if __name__ == "__main__":
    main()
