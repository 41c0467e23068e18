"""Make training data: the expert plays `train.yaml` and `held_out.yaml`, and their splits are proven to share nothing.

    python -m training.data FOLDER [-o key=value …]      runs, train.jsonl, held_out.jsonl with their manifests

`-o` goes to both runs: `-o suite.graphs='[{nodes: 20, names: train}]'` would give them one pool, and be refused.
"""

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
PLAYERS = {"train": ("scripted/by_reference", "scripted/varied"), "held_out": ("scripted/by_reference",)}


def graphwalk(*words: object) -> None:
    """One command of GraphWalk; what goes wrong is said by it."""
    done = subprocess.run([sys.executable, "-m", "graphwalk", *map(str, words)])
    if done.returncode:
        sys.exit(done.returncode)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.data", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, help="graphs of each kind, in place of what the files say")
    parser.add_argument("--protocol", choices=("text", "native"), default="text")
    options = parser.parse_args()
    files = []
    for split, players in PLAYERS.items():
        run, out = options.folder / f"run-{split}", options.folder / f"{split}.jsonl"
        count = () if options.count is None else ("-o", f"suite.graphs.*.count={options.count}")
        graphwalk("run", HERE / f"{split}.yaml", "--out", run, *(w for p in players for w in ("--model", p)), *count)
        graphwalk("export", "traces", run, "--out", out, "--correct", "--protocol", options.protocol)
        files.append(out)
    graphwalk("export", "check-splits", *files, "--wordings")


if __name__ == "__main__":
    main()
