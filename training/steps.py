"""Improve a pupil by walks of its own (expert iteration): does it help to know which steps were good?

    python -m training.steps FOLDER --model base/ --full --learnt-tokens 90000

A pupil learns to walk as in `walk_or_read`, and then walks for each of some training questions several times. From
there two pupils learn the same number of tokens: `answers` all replies of the walks with a right answer, `turns` the
calls that brought the target nearer (`graphwalk export traces --steps`), and right answers. All three are tested on the
held-out questions. Data, models and runs that exist are kept, and unfinished ones are continued.
"""

import argparse
import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from training.chats import EXPERIMENTS, walking_chats
from training.commands import add_pupil_options, compare, play, run_module, taught
from training.packing import read_chats
from training.walk_or_read import test


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.steps", description=__doc__)
    add_pupil_options(parser)
    parser.add_argument("--graphs", type=int, help="training graphs of each kind, in place of those in the file")
    parser.add_argument("--sampled-graphs", type=int, default=10, help="of these, graphs whose questions are sampled")
    parser.add_argument("--samples", type=int, default=4, help="walks for each of their questions")
    parser.add_argument("--round-tokens", type=int, default=20_000, help="learnt tokens of the two pupils")
    options = parser.parse_args()
    if not options.model:
        parser.error("--model is missing: a name on the hub, or a folder")
    options.folder.mkdir(parents=True, exist_ok=True)
    chats = walking_chats(options.folder, EXPERIMENTS, options.graphs)
    again = argparse.Namespace(**{**vars(options), "learnt_tokens": options.round_tokens, "rate": options.rate / 3})
    runs = []
    for seed in options.seeds:
        pupil = taught(options, chats, Path(options.model), seed, f"before-{seed}")
        pupils = {"before": pupil}
        for name, file in selected(options, pupil, seed).items():
            pupils[name] = taught(again, file, pupil, seed, f"{name}-{seed}")
        for name, model in pupils.items():
            test(options, model, f"{name}-{seed}", ["tools"])
            runs.append(options.folder / f"run-{name}-{seed}")
    compare(runs)


def selected(options: argparse.Namespace, pupil: Path, seed: int) -> dict[str, Path]:
    """Return the chats of a pupil's own walks to learn from, by the name of the pupil that learns them."""
    files = {name: options.folder / f"{name}-{seed}.jsonl" for name in ("answers", "turns")}
    if not all(path.exists() for path in files.values()):
        walks = options.folder / f"walks-{seed}.jsonl"
        sampling = argparse.Namespace(**{**vars(options), "publish": None})
        words = ["--graphs", options.sampled_graphs, "-o", f"repeats={options.samples}", "-o", "options.temperature=1"]
        play(sampling, pupil, f"sampled-{seed}", [EXPERIMENTS / "train.yaml", "--setting", "tools", *words])
        form = ("--steps", "--protocol", "json")
        run_module("graphwalk", "export", "traces", options.folder / f"run-sampled-{seed}", "--out", walks, *form)
        chats = read_chats(walks)
        write(files["answers"], [chat for chat in chats if chat["correct"]])
        write(files["turns"], [turn for chat in chats for turn in good_turns(chat)])
    return files


def good_turns(chat: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a chat that ends with it for each turn that raised the potential, and for a right answer."""
    replies = [place for place, message in enumerate(chat["messages"]) if message["role"] == "assistant"]
    for place, (before, after) in zip(replies, pairwise(chat["potentials"]), strict=True):
        if after > before or (place == replies[-1] and chat["correct"]):
            yield {**chat, "messages": chat["messages"][: place + 1], "first_new": place}


def write(path: Path, chats: list[dict[str, Any]]) -> None:
    print(f"{path.name}: {len(chats)} chats", flush=True)
    path.write_text("".join(json.dumps(chat) + "\n" for chat in chats), encoding="utf-8")


if __name__ == "__main__":
    main()
