"""Run all steps of a training in minutes: data, a tiny model, an interruption and a resume, a server, and a scored run.

    python -m training.smoke [FOLDER]

It shows that the steps work, not that a model of this size learns to walk.
"""

import json
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from training.commands import run_module, serve
from training.tiny import make_tiny


def main(folder: Path) -> None:
    tiny, tuned = folder / "tiny", folder / "tuned"
    make_tiny(tiny)
    chats, models = folder / "train.jsonl", ("--model", "scripted/expert", "--model", "scripted/varied")
    experiment = Path(__file__).parent / "train.yaml"
    run_module(
        "graphwalk", "generate", "traces", experiment, *models, "--graphs", 1, "--protocol", "text", "--out", chats
    )
    tune = ("training.tune", chats, "--model", tiny, "--out", tuned, "--length", 12_288)
    run_module(*tune, "--tokens", 12_000, "--save-every", 1)
    run_module(*tune, "--tokens", 24_000, "--save-every", 1)
    with suppress(SystemExit):
        run_module(*tune, "--tokens", 24_000, "--seed", 1)
        raise AssertionError("a checkpoint of another seed is not continued")
    training = json.loads((tuned / "training.json").read_text())
    assert training["tokens_before"] >= 12_000, "the second process continues after the tokens of the first"
    assert len(training["losses"]) == training["step"]
    with serve(tuned, most=64) as address:
        run = ("graphwalk", "run", Path(__file__).parent / "held_out.yaml", "--out", folder / "run")
        model = ("--model", "openai-api/local/tuned", "--limit", 2, "--max-concurrency", 1)
        run_module(*run, *model, LOCAL_BASE_URL=address)
    print("data, training, resuming, serving and evaluating work here")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as scratch:
            main(Path(scratch))
