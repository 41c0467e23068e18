"""Make the chats of `walk_or_read`: the expert's walks, and graphs as text with questions and answers.

    python -m training.chats FOLDER [--graphs 1000]

writes FOLDER/walk/train.jsonl and FOLDER/read.jsonl, which have the same graphs and questions.
"""

import argparse
import asyncio
import json
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from graphwalk.models.chat import CallOptions, Message
from graphwalk.models.protocols import ANY_TEXT, TextProtocol, protocol_of
from graphwalk.runs.experiment import load_experiment
from graphwalk.training.environment import TaskEnvironment
from training.commands import run_module

EXPERIMENTS = Path(__file__).parent / "walking_and_reading"
TRAIN = EXPERIMENTS / "train.yaml"
SPLITS = ("train", "held_out")
_PART = 25
"""Graphs of each kind that one process makes at a time."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.chats", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--graphs", type=int, help="graphs of each kind, in place of those in the files")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    reading_chats(options.folder, options.graphs)
    walking_chats(options.folder, options.graphs)


def walking_chats(folder: Path, graphs: int | None) -> Path:
    """Return the file of the expert's episodes with tools, each of which is a chat; the splits share nothing."""
    data = folder / "walk"
    if not data.exists():
        scratch = folder / "walk.part"
        scratch.mkdir(exist_ok=True)
        for split in SPLITS:
            file = EXPERIMENTS / f"{split}.yaml"
            config = load_experiment(str(file))
            models = [word for model in config.models for word in ("--model", model)]
            number = ["--graphs", graphs] if graphs and split == "train" else []
            form = ("--protocol", config.agent.tool_format, "--out", scratch / f"{split}.jsonl")
            apart = ["--not-in", scratch / "train.jsonl"] if split == "held_out" else []
            run_module("graphwalk", "generate", "traces", file, *models, *number, *form, *apart)
        scratch.rename(data)
    return data / "train.jsonl"


def reading_chats(folder: Path, graphs: int | None) -> Path:
    """Return the file of chats that hold the graph as text, a question, and its target."""
    out = folder / "read.jsonl"
    if not out.exists():
        with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
            lines = [line for part in pool.map(_reading_lines, reading_parts(graphs)) for line in part]
        out.write_text("".join(lines), encoding="utf-8")
    return out


def reading_parts(graphs: int | None) -> list[dict[str, Any]]:
    """Return the fields of experiments with at most `_PART` graphs of each kind, together those of the walker."""
    config = load_experiment(str(TRAIN), graphs=graphs)
    specs = config.model_dump(mode="json")["suite"]["graphs"]
    parts = []
    for start in range(0, max(spec["count"] for spec in specs), _PART):
        left = [{**spec, "offset": spec["offset"] + start, "count": spec["count"] - start} for spec in specs]
        part = [{**spec, "count": min(_PART, spec["count"])} for spec in left if spec["count"] > 0]
        parts.append({"suite.graphs": part})
    return parts


def _reading_lines(fields: dict[str, Any]) -> list[str]:
    return asyncio.run(_read_lines(fields))


async def _read_lines(fields: dict[str, Any]) -> list[str]:
    # No scripted agent plays this setting: the name of the model is not used.
    one = {"settings": ["no_tools"], "models": ["openai-api/none/none"], **fields}
    stage = await TaskEnvironment.open(str(TRAIN), **one)
    lines: list[str] = []
    for number in range(len(stage)):
        episode = await stage.begin(number)
        # Of tied rows one is enough.
        answer = Message("assistant", json.dumps(episode.task.target[: episode.task.target_size]))
        protocol = protocol_of(stage.experiment.config.agent)
        assert isinstance(protocol, TextProtocol)
        sent, _, _ = protocol.outgoing(episode.prompt, (), CallOptions(answer_schema=ANY_TEXT))
        messages = [message.as_openai() for message in (*sent, protocol.written(answer, False))]
        lines.append(json.dumps({"messages": messages, "task_id": episode.task.task_id}) + "\n")
    await stage.close()
    return lines


if __name__ == "__main__":
    main()
