"""A language model that takes its time: a server in a process of its own that walks the same steps in every episode.

    python -m benchmarks.walking_server --delay 0.2 --turns 4 --calls '[["think", {"thought": "…"}]]'

prints its URL. A conversation with fewer than `turns` replies gets the next of the tool calls, then the answer `[]`.
"""

import argparse
import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tests.models.server import Answer, ModelServer, Request, chat

Calls = Sequence[tuple[str, dict[str, Any]]]


@contextmanager
def walking_server(calls: Calls, *, turns: int, delay: float) -> Iterator[str]:
    """The base URL of a server that answers after `delay` seconds."""
    options = ["--delay", str(delay), "--turns", str(turns), "--calls", json.dumps(calls)]
    command = [sys.executable, "-m", "benchmarks.walking_server", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def answers(calls: Calls, turns: int, delay: float) -> list[Answer]:
    """By number of replies so far; written out once, so that the server does not become the bottleneck."""
    bodies = [chat(calls=[calls[number % len(calls)]]) for number in range(turns)]
    return [Answer(json.dumps(body).encode(), delay=delay) for body in (*bodies, chat("[]"))]


async def _main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--delay", type=float, required=True)
    parser.add_argument("--turns", type=int, required=True)
    parser.add_argument("--calls", type=json.loads, required=True)
    options = parser.parse_args()
    prepared = answers(options.calls, options.turns, options.delay)

    def respond(request: Request) -> Answer:
        return prepared[request.raw.count(b'"role":"assistant"')]

    server = ModelServer(respond, record=False)
    await server.start()
    print(server.url, flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_main())
