"""The commands that a whole way of training is made of, each in a process of its own."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def said(*words: object, **environment: str) -> None:
    """Run `python -m WORDS` with its output shown. CalledProcessError where it fails."""
    print("$ python -m " + " ".join(map(str, words)), flush=True)
    subprocess.run([sys.executable, "-m", *map(str, words)], check=True, env={**os.environ, **environment})


@contextmanager
def served(model: Path, most: int) -> Iterator[str]:
    """The address of a server of this model, whose replies have at most so many tokens; it ends with the block."""
    words = ["training.serve", str(model), "--port", "0", "--most", str(most)]
    server = subprocess.Popen([sys.executable, "-m", *words], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
    finally:
        server.terminate()
        server.wait()
