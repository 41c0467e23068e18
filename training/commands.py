"""Run the commands of a training, each in a process of its own: teach pupils, serve them, test and compare them."""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

BASE_REPLY = 256
"""Most tokens of a reply of a base, which seldom ends one."""


def run_module(*words: object, **environment: str) -> None:
    """Run `python -m WORDS` and show its output. End this process if it fails."""
    print("$ python -m " + " ".join(map(str, words)), flush=True)
    done = subprocess.run([sys.executable, "-m", *map(str, words)], env={**os.environ, **environment})
    if done.returncode:
        sys.exit(f"{words[0]} ended with {done.returncode}; to continue from here, repeat the command")


@contextmanager
def serve(model: Path, most: int, port: int = 0, batch: int = 8) -> Iterator[str]:
    """Serve a model while the block runs, and yield its address. A reply has at most `most` tokens."""
    words = ["training.serve", str(model), "--port", str(port), "--most", str(most), "--batch", str(batch)]
    with subprocess.Popen([sys.executable, "-m", *words], stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            if not (address := server.stdout.readline().strip()):
                sys.exit(f"the server of {model} did not start; its error is above")
            yield address
        finally:
            server.terminate()


def add_pupil_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `taught` and `play`."""
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", required=True, help="a pretrained model: a name on the hub, or a folder")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0], help="a pupil per seed of the training")
    parser.add_argument("--full", action="store_true", help="all weights, not LoRA")
    parser.add_argument("--rate", type=float, default=3e-4, help="highest learning rate")
    parser.add_argument("--tokens", type=int, default=300_000, help="training tokens of each pupil")
    parser.add_argument("--learnt-tokens", type=int, help="tokens of replies of each pupil, in place of --tokens")
    parser.add_argument("--compile", action="store_true", help="compile the layers, for long trainings on a GPU")
    parser.add_argument("--length", type=int, default=2560, help="most tokens of a sequence of whole chats")
    parser.add_argument("--port", type=int, default=8091, help="port of the server; a run is resumed at the same one")
    parser.add_argument("--reply", type=int, default=1024, help="most tokens of a reply")
    parser.add_argument("--batch", type=int, default=16, help="requests that are answered together")
    parser.add_argument("--limit", type=int, help="most questions of each test, to try all steps")
    parser.add_argument("--publish", type=Path, metavar="DIR", help="write DIR/NAME.zip of each run, and its training")


def taught(options: argparse.Namespace, chats: Path, base: Path, seed: int, name: str) -> Path:
    """Return the folder of a pupil; an interrupted training is continued."""
    out = options.folder / f"taught-{name}"
    if not (out / "training.json").exists():
        weights = ("--full",) if options.full else ()
        learnt = ("--learnt-tokens", options.learnt_tokens) if options.learnt_tokens else ()
        budget = ("--tokens", options.tokens, *learnt, "--length", options.length, "--save-every", 25)
        budget += ("--compile",) if options.compile else ()
        place = ("--model", base, "--out", out, "--seed", seed, "--rate", options.rate)
        run_module("training.tune", chats, *place, *weights, *budget)
    if options.publish:
        _publish_training(out / "training.json", options.publish / f"{options.folder.name}-{name}.json")
    return out


def _publish_training(facts: Path, out: Path) -> None:
    """Write the facts of a training without the folders on this machine."""
    done = json.loads(facts.read_text(encoding="utf-8"))
    names = {name: Path(done[name]).name for name in ("model", "out")}
    losses = [round(loss, 4) for loss in done["losses"]]
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps({**done, **names, "losses": losses}, indent=2) + "\n", encoding="utf-8")


def play(options: argparse.Namespace, model: Path, name: str, words: Sequence[object]) -> None:
    """Test a model by `graphwalk run WORDS`."""
    out = options.folder / f"run-{name}"
    with serve(model, options.reply, options.port, options.batch) as address:
        words = [*words, "--model", f"openai-api/local/{name}", "--max-concurrency", options.batch]
        if options.limit is not None:
            words += ["--limit", options.limit]
        run_or_resume(out, words, LOCAL_BASE_URL=address)
    publish(out, options.publish, f"{options.folder.name}-{name}")


def run_or_resume(out: Path, words: Sequence[object], **environment: str) -> None:
    """Do `graphwalk run WORDS`, or resume it if it was begun."""
    run_module("graphwalk", *(["resume", out] if out.exists() else ["run", *words, "--out", out]), **environment)


def publish(run: Path, folder: Path | None, name: str) -> None:
    """Write a run as NAME.zip in a folder, in place of an earlier one."""
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.zip").unlink(missing_ok=True)
        run_module("graphwalk", "publish", run, "--out", folder / f"{name}.zip")


def compare(runs: Sequence[Path]) -> None:
    """Print the report of each run, and the paired differences between all."""
    for run in runs:
        run_module("graphwalk", "report", run)
    run_module("graphwalk", "compare", *runs)
