"""The side of `engine_worker` that asks: starts the process, waits for it as long as a query may take, ends it."""

import json
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graphwalk.errors import StoreError
from graphwalk.stores.engine_worker import READY, read_message, write_message
from graphwalk.stores.written.refusal import QueryRefused

MEMORY = 1 << 30
"""Bytes that queries may take, beyond the program and the graph."""
GRACE_SECONDS = 2.0
"""Beyond the engine's own time limit, which it looks at now and then."""


class EngineProcess:
    """One graph in a process that may die. `ask` may be called from many threads; queries wait for one another."""

    def __init__(self, graph: bytes) -> None:
        self._graph = graph
        self._process: subprocess.Popen[bytes] | None = None
        self._one_at_a_time = threading.Lock()

    def ask(self, cypher: str, parameters: Mapping[str, Any], seconds: float, rows: int) -> tuple[list[Any], int]:
        """Up to `rows` rows, and how many there are. QueryRefused "timeout", "too_large" or "query_error"."""
        request = {"cypher": cypher, "parameters": dict(parameters), "rows": rows, "timeout_ms": int(seconds * 1000)}
        with self._one_at_a_time:
            answer = self._exchange(json.dumps(request).encode(), seconds)
        if "error" not in answer:
            return answer["rows"], answer["total"]
        if answer["error"] == "timeout":
            raise QueryRefused("timeout", "query_timeout", seconds=seconds)
        if answer["error"] == "too_large":
            raise QueryRefused("too_large", "query_too_large")
        raise QueryRefused("query_error", "query_error", problem=answer["message"])

    def close(self) -> None:
        """End the process, in the middle of a query too; the next query starts another."""
        if self._process is not None:
            self._process.kill()
        with self._one_at_a_time:
            self._end()

    def _exchange(self, request: bytes, seconds: float) -> dict[str, Any]:
        process = self._running()
        late = threading.Event()

        def stop() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(seconds + GRACE_SECONDS, stop)
        timer.start()
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            write_message(process.stdin, request)
            answer = read_message(process.stdout)
        except OSError:
            answer = b""
        finally:
            timer.cancel()
        if answer:
            found: dict[str, Any] = json.loads(answer)
            return found
        self._end()
        return {"error": "timeout" if late.is_set() else "too_large", "message": ""}

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            program = Path(__file__).with_name("engine_worker.py")
            # -P: the folder of the program holds modules that have the names of libraries.
            words = [sys.executable, "-P", str(program), str(MEMORY)]
            process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
            )
            weakref.finalize(self, _end, process)
            self._process = process
            assert process.stdin is not None
            assert process.stdout is not None
            write_message(process.stdin, self._graph)
            if read_message(process.stdout) != READY:
                self._end()
                raise StoreError("the process for queries of models does not start")
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            _end(self._process)
            self._process = None


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            try:
                stream.close()
            except OSError:
                continue  # what was not sent is lost with the process
    process.wait()
