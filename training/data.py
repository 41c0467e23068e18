"""Make training data: the expert plays `train.yaml` and `held_out.yaml`, and check that the splits share nothing.

    python -m training.data FOLDER [--of training/walking_and_reading]      runs, train.jsonl and held_out.jsonl

The agents are in `models` of the two experiments.
"""

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SPLITS = ("train", "held_out")


def graphwalk(*words: object) -> None:
    """Run a command of GraphWalk, and exit with its code if it fails."""
    done = subprocess.run([sys.executable, "-m", "graphwalk", *map(str, words)])
    if done.returncode:
        sys.exit(done.returncode)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.data", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--of", type=Path, default=HERE, help="where the two experiments are; default: training")
    parser.add_argument("--count", type=int, help="graphs of each kind, in place of those in the files")
    parser.add_argument("--protocol", choices=("text", "native"), default="text")
    options = parser.parse_args()
    files = []
    chats = ("--correct", "--protocol", options.protocol)
    count = () if options.count is None else ("-o", f"suite.graphs.*.count={options.count}")
    for split in SPLITS:
        run, out = options.folder / f"run-{split}", options.folder / f"{split}.jsonl"
        graphwalk("run", options.of / f"{split}.yaml", "--out", run, *count)
        graphwalk("export", "traces", run, "--out", out, *chats)
        files.append(out)
    graphwalk("export", "check-splits", *files, "--wordings")


if __name__ == "__main__":
    main()
