"""Run the commands of a training, each in a process of its own."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def run_module(*words: object, **environment: str) -> None:
    """Run `python -m WORDS` and show its output. Raise CalledProcessError if it fails."""
    print("$ python -m " + " ".join(map(str, words)), flush=True)
    subprocess.run([sys.executable, "-m", *map(str, words)], check=True, env={**os.environ, **environment})


@contextmanager
def serve(model: Path, most: int) -> Iterator[str]:
    """Serve a model while the block runs, and yield its address. A reply has at most `most` tokens."""
    words = ["training.serve", str(model), "--port", "0", "--most", str(most)]
    server = subprocess.Popen([sys.executable, "-m", *words], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
    finally:
        server.terminate()
        server.wait()
