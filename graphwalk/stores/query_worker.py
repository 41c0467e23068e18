"""A program that runs queries of models on one graph, in the embedded engine, until its input ends.

A query can exhaust the memory, and the engine then ends its process: it ends this one. Standard input and output are
lines of JSON:

    → {"cypher": "UNWIND $rows AS row CREATE …", "rows": [{"key": "a"}]}    once for each part of the graph
    → null
    ← {}                                                                     the graph is loaded
    → {"cypher": "MATCH (n) RETURN n.key AS key", "milliseconds": 10000, "rows": 1000}
    ← {"rows": [{"key": "a"}], "total": 1}    or {"error": "timeout", "problem": "…"}

It imports little, so that it starts quickly. Arguments: bytes of memory for queries, most characters of an answer.
"""

import json
import os
import queue
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import kglite

REFUSALS = (kglite.KgError, OverflowError, TypeError, ValueError)
"""Exceptions of kglite that mean that it refuses a query or a graph."""


def main() -> None:
    """Load the graph from standard input, then answer queries."""
    memory, longest = int(sys.argv[1]), int(sys.argv[2])
    kglite.set_query_warning_policy("silent")
    engine = kglite.KnowledgeGraph()
    while (part := json.loads(sys.stdin.buffer.readline())) is not None:
        engine.cypher(part["cypher"], params={"rows": part["rows"]})
    engine.read_only(True)
    queries: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read_until_end, args=(queries,), daemon=True).start()
    _limit_memory(memory)
    _write(b"{}")
    while True:
        answer = json.dumps(_answer(engine, json.loads(queries.get())), default=str)
        if len(answer) > longest:
            answer = json.dumps(_error("too_large"))
        _write(answer.encode())


def _write(line: bytes) -> None:
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


def _read_until_end(queries: "queue.SimpleQueue[bytes]") -> None:
    """Pass the queries on. End the process with its input, that is with its parent, also while a query runs."""
    while line := sys.stdin.buffer.readline():
        queries.put(line)
    os._exit(0)


def _answer(engine: Any, query: dict[str, Any]) -> dict[str, Any]:
    try:
        result = engine.cypher(
            query["cypher"],
            timeout_ms=query["milliseconds"],
            row_limit=query["rows"],
            hide_structural_keys=True,
        )
        total = result.diagnostics.get("total_rows") or len(result)
        return {"rows": result.to_list(), "total": total}
    except kglite.CypherTimeoutError:
        return _error("timeout")
    except MemoryError:
        return _error("memory")
    except REFUSALS as error:
        return _error("refused", str(error))
    except BaseException as error:  # a panic of the engine is a BaseException; no signal is handled here
        return _error("failed", f"{type(error).__name__}: {error}")


def _error(kind: str, problem: str = "") -> dict[str, Any]:
    return {"error": kind, "problem": problem}


def _limit_memory(memory: int) -> None:
    """Let this process take `memory` bytes more than now, on Linux; macOS and Windows hold no such limit."""
    if sys.platform != "linux":
        return
    import resource

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + memory
    limits = [limit for limit in resource.getrlimit(resource.RLIMIT_AS) if limit != resource.RLIM_INFINITY]
    most = min([most, *limits])
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # no file for each process that ends
    # Where all memory of the machine is taken, end this process first, not its parent.
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


if __name__ == "__main__":
    main()
