"""Teach a model to walk, and another one to read, with as many tokens, and compare them by size.

    python -m training.walk_or_read FOLDER --model base/ --full

The walker learns the expert's calls and answers, the reader the graph as text and the expert's answer. Only replies are
learnt, so with as many `--tokens` the walker learns more of them; `--learnt-tokens` gives both the same number.
Both are tested on the same questions about graphs, sizes, names and wordings outside the training, and so is their
base. Data, models and runs that exist are kept, and unfinished ones are continued.
"""

import argparse
from pathlib import Path

from training.chats import EXPERIMENTS, reading_chats, walking_chats
from training.commands import BASE_REPLY, add_pupil_options, compare, play, taught

SETTINGS = {"walk": "tools", "read": "no_tools"}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.walk_or_read", description=__doc__)
    add_pupil_options(parser)
    parser.add_argument("--graphs", type=int, help="training graphs of each kind, in place of those in the file")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    base, runs = Path(options.model), []
    for pupil, make in {"walk": walking_chats, "read": reading_chats}.items():
        chats = make(options.folder, options.graphs)
        for seed in options.seeds:
            test(options, taught(options, chats, base, seed, f"{pupil}-{seed}"), f"{pupil}-{seed}", [SETTINGS[pupil]])
            runs.append(options.folder / f"run-{pupil}-{seed}")
    options.reply = min(options.reply, BASE_REPLY)
    test(options, base, "base", list(SETTINGS.values()))
    compare([*runs, options.folder / "run-base"])


def test(options: argparse.Namespace, model: Path, name: str, settings: list[str]) -> None:
    """Ask a model the questions of the test."""
    words = [word for setting in settings for word in ("--setting", setting)]
    play(options, model, name, [str(EXPERIMENTS / "held_out.yaml"), *words])


if __name__ == "__main__":
    main()
