"""Worker processes for queries of models: each holds one graph and runs `query_worker.py`.

A worker that a query ends, by its memory or its time, is started again by the next query.
"""

import asyncio
import json
import os
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from graphwalk.errors import StoreError
from graphwalk.variables import process_environment

MEMORY = 1 << 30
"""Bytes that a query may take, beyond the program and its graph (on Linux)."""
MOST_WORKERS = 8
"""Processes of one pool, at 40 MB each and their graph."""
MOST_NODES = 500_000
"""In all workers of one graph; a larger graph has one worker."""
GRACE_SECONDS = 0.9
"""Beyond the engine's own time limit, which it looks at now and then."""
LONGEST_ANSWER = 1 << 26
"""Characters of the rows of one query."""
_PROGRAM = Path(__file__).with_name("query_worker.py")
_FEW_THREADS = {"RAYON_NUM_THREADS": "2", "MALLOC_ARENA_MAX": "1", "MIMALLOC_ARENA_RESERVE": "65536"}
"""Variables of the engine's libraries. By default they reserve memory for each core, which counts for the limit."""

Parts = Iterator[tuple[str, list[dict[str, Any]]]]
"""Cypher that loads a part of a graph, and its parameter `rows`."""


class QueryPool:
    """Workers for the graphs of one database. Queries of one graph run side by side, in several workers."""

    def __init__(self) -> None:
        self._turns = asyncio.Semaphore(MOST_WORKERS)
        self._busy = 0
        self._idle: list[tuple[GraphQueries, _Worker]] = []
        """The last one was used last."""

    async def take(self, graph: "GraphQueries") -> "_Worker":
        """Return a worker that holds the graph and runs no query; `give` must follow."""
        await self._turns.acquire()
        self._busy += 1
        try:
            self._idle = [(owner, worker) for owner, worker in self._idle if worker.runs]
            for place, (owner, worker) in enumerate(self._idle):
                if owner is graph:
                    del self._idle[place]
                    return worker
            if self._busy + len(self._idle) > MOST_WORKERS:
                _, oldest = self._idle.pop(0)
                oldest.end()
            return await _Worker.start(graph.parts)
        except BaseException:
            self._free_turn()
            raise

    def give(self, graph: "GraphQueries", worker: "_Worker") -> None:
        """Take a worker back."""
        self._free_turn()
        if worker.runs and not graph.closed:
            self._idle.append((graph, worker))
        else:
            worker.end()

    def _free_turn(self) -> None:
        self._busy -= 1
        self._turns.release()

    def end(self, graph: "GraphQueries | None" = None) -> None:
        """End the workers that run no query, of one graph or all."""
        for owner, worker in [*self._idle]:
            if graph is None or owner is graph:
                self._idle.remove((owner, worker))
                worker.end()


class GraphQueries:
    """Queries of models on one graph."""

    def __init__(self, pool: QueryPool, nodes: int, parts: Callable[[], Parts]) -> None:
        """`parts` returns the graph in parts, for each worker anew."""
        self.parts = parts
        self.closed = False
        self._pool = pool
        self._turns = asyncio.Semaphore(max(1, min(MOST_WORKERS, MOST_NODES // max(1, nodes))))

    async def answer(self, cypher: str, *, seconds: float, rows: int) -> dict[str, Any]:
        """Return {"rows", "total"}, or {"error", "problem"}.

        Errors: "refused", "timeout", "memory", "too_large", and "failed" for an error of the engine itself. A query
        whose worker ends runs once more: something else may have ended the first one. Raise StoreError if no worker
        starts.
        """
        clock = asyncio.get_running_loop().time
        left = seconds
        for _ in range(2):
            query = {"cypher": cypher, "milliseconds": max(1, int(left * 1000)), "rows": rows}
            async with self._turns:
                worker = await self._pool.take(self)
                started = clock()
                try:
                    async with asyncio.timeout(left + GRACE_SECONDS):
                        answer = await worker.answer(query)
                except TimeoutError:
                    worker.end()
                    return {"error": "timeout", "problem": ""}
                except BaseException:  # the query may still run
                    worker.end()
                    raise
                finally:
                    self._pool.give(self, worker)
            if answer is not None:
                return answer
            left -= clock() - started
            if left <= 0:
                return {"error": "timeout", "problem": ""}
        return {"error": "memory", "problem": ""}

    def close(self) -> None:
        """End the workers of this graph; those that run a query end after it."""
        self.closed = True
        self._pool.end(self)


class _Worker:
    """One process with one graph."""

    def __init__(self) -> None:
        try:
            self._process = subprocess.Popen(
                # -P: the folder of the program has modules that are named like libraries.
                [sys.executable, "-P", str(_PROGRAM), str(MEMORY), str(LONGEST_ANSWER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=process_environment(**_FEW_THREADS, PYTHONPATH=os.pathsep.join(filter(None, sys.path))),
                # Ctrl-C is for this process, which then ends its workers.
                start_new_session=True,
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
        except OSError as error:
            raise StoreError(f"no process for queries of a model can be started: {error}") from error
        self.end = weakref.finalize(self, _end, self._process)
        """Ends the process, also while it runs a query; at the latest when this process ends."""

    @classmethod
    async def start(cls, parts: Callable[[], Parts]) -> "_Worker":
        """Start a process and load a graph into it. Raise StoreError."""
        worker = cls()
        try:
            loaded = await asyncio.to_thread(worker._load, parts)
        except BaseException:
            worker.end()
            raise
        if not loaded:
            code = worker._process.poll()
            worker.end()
            raise StoreError(f"the process for queries of a model ended while it loaded the graph (exit code {code})")
        return worker

    @property
    def runs(self) -> bool:
        return self.end.alive and self._process.poll() is None

    async def answer(self, query: dict[str, Any]) -> dict[str, Any] | None:
        """Return the answer to a query; None if the process ended."""
        line = await asyncio.to_thread(self._exchange, json.dumps(query).encode() + b"\n")
        if not line:
            self.end()
            return None
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _load(self, parts: Callable[[], Parts]) -> bool:
        stdin = self._process.stdin
        assert stdin is not None
        with suppress(OSError, ValueError):  # it has ended
            for cypher, rows in parts():
                stdin.write(json.dumps({"cypher": cypher, "rows": rows}).encode() + b"\n")
        return bool(self._exchange(b"null\n"))

    def _exchange(self, line: bytes) -> bytes:
        """Send a line and return the next one of the process, b"" if it has ended."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write(line)
            stdin.flush()
            answer = stdout.readline()
        except (OSError, ValueError):  # ended, or closed by `end`
            return b""
        return answer if answer.endswith(b"\n") else b""


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    with suppress(OSError), process:
        pass  # closes the pipes; what was not sent is lost with the process
