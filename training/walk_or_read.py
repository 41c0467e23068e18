"""Teach a model to walk, and another one to read, with as many tokens, and compare them by size.

    python -m training.walk_or_read FOLDER --model base/ --full

The walker learns the expert's calls and answers, the reader the graph as text and the expert's answer.
Only replies are learnt, so the walker learns more tokens (`learnt_tokens` of `training.json`).
Both are tested on the same questions about graphs, sizes, names and wordings outside the training, and so is their
base. Data, models and runs that exist are kept, and unfinished ones are continued.
"""

import argparse
import asyncio
import json
from pathlib import Path

from graphwalk.environments.stage import Stage
from training.commands import BASE_REPLY, add_pupil_options, compare, play, run_module, taught

EXPERIMENTS = Path(__file__).parent / "walking_and_reading"
SETTINGS = {"walk": "tools", "read": "no_tools"}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.walk_or_read", description=__doc__)
    add_pupil_options(parser)
    options = parser.parse_args()
    if not options.model:
        parser.error("--model is missing: a name on the hub, or a folder")
    options.folder.mkdir(parents=True, exist_ok=True)
    base, runs = Path(options.model), []
    for pupil, chats in {"walk": walking_chats(options.folder), "read": reading_chats(options.folder)}.items():
        for seed in options.seeds:
            test(options, taught(options, chats, base, seed, f"{pupil}-{seed}"), f"{pupil}-{seed}", [SETTINGS[pupil]])
            runs.append(options.folder / f"run-{pupil}-{seed}")
    options.reply = min(options.reply, BASE_REPLY)
    test(options, base, "base", list(SETTINGS.values()))
    compare([*runs, options.folder / "run-base"])


def walking_chats(folder: Path) -> Path:
    """Return the file of the expert's episodes with tools, each of which is a chat; the splits share nothing."""
    data = folder / "data-walk"
    if not data.exists():
        run_module("training.data", data, "--of", EXPERIMENTS)
    return data / "train.jsonl"


def reading_chats(folder: Path) -> Path:
    """Return the file of chats that hold the graph as text, a question, and its target."""
    out = folder / "data-read.jsonl"
    if not out.exists():
        out.write_text("".join(json.dumps(chat) + "\n" for chat in asyncio.run(_read_chats())))
    return out


async def _read_chats() -> list[dict[str, object]]:
    # No scripted agent plays this setting: the name of the model is not used.
    stage = await Stage.open(EXPERIMENTS / "train.yaml", settings=["no_tools"], models=["openai-api/none/none"])
    chats: list[dict[str, object]] = []
    for number in range(len(stage)):
        episode = await stage.begin(number)
        # Of tied rows one is enough.
        answer = json.dumps(episode.task.target[: episode.task.target_size])
        messages = [*(message.as_openai() for message in episode.prompt), {"role": "assistant", "content": answer}]
        chats.append({"messages": messages, "task_id": episode.task.task_id})
    await stage.close()
    return chats


def test(options: argparse.Namespace, model: Path, name: str, settings: list[str]) -> None:
    """Ask a model the questions of the test."""
    words = [word for setting in settings for word in ("--setting", setting)]
    play(options, model, name, [str(EXPERIMENTS / "held_out.yaml"), *words])


if __name__ == "__main__":
    main()
