"""The whole way in minutes: data, a tiny model, a few steps, a stop in the middle, a server, and a scored run.

    python -m training.smoke [FOLDER]

It shows that the way can be gone, not that a model of this size learns to walk.
"""

import json
import sys
import tempfile
from pathlib import Path

from training.commands import said, served
from training.tiny import make_tiny


def main(folder: Path) -> None:
    tiny, tuned = folder / "tiny", folder / "tuned"
    make_tiny(tiny)
    said("training.data", folder / "data", "--count", 1)
    tune = ("training.tune", folder / "data" / "train.jsonl", "--model", tiny, "--out", tuned, "--length", 12_288)
    said(*tune, "--steps", 2, "--save-every", 2)
    said(*tune, "--steps", 4, "--save-every", 2)
    losses = json.loads((tuned / "training.json").read_text())["losses"]
    assert len(losses) == 2, f"the second process makes the last two steps, not {len(losses)}"
    with served(tuned, most=64) as address:
        run = ("graphwalk", "run", Path(__file__).parent / "held_out.yaml", "--out", folder / "run")
        model = ("--model", "openai-api/local/tuned", "--limit", 2, "--max-concurrency", 1)
        said(*run, *model, LOCAL_BASE_URL=address)
    print("data, training, resuming, serving and evaluating work here")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as scratch:
            main(Path(scratch))
