"""A process of its own for Cypher that a file or a model brings: it answers queries on one graph until its input ends.

Run as a program. The first argument is the memory in bytes that queries may take. Messages are lines of JSON; the first
one is the graph: bytes of the engine in Base64. What a query may take is bounded by the engine (time) and by the system
(memory, and no further file or connection): a process that exceeds its memory ends alone.
"""

import base64
import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

import kglite

READY = b"ready\n"
"""The first answer: the graph is there."""


def main() -> None:
    """Answer queries from standard input."""
    kglite.set_query_warning_policy("silent")
    engine: Any = kglite.from_bytes(base64.b64decode(sys.stdin.buffer.readline()))
    engine.read_only(True)
    engine.cypher("RETURN 1 AS one").to_list()  # starts what the engine starts once
    _set_limits(int(sys.argv[1]))
    answer = READY
    while True:
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()
        if not (request := sys.stdin.buffer.readline()):
            return
        answer = json.dumps(_answer(engine, json.loads(request)), default=str).encode() + b"\n"


def _answer(engine: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Return {"rows", "total"}, or {"error", "message"}."""
    try:
        result = engine.cypher(
            request["cypher"],
            params=request["parameters"],
            timeout_ms=request["timeout_ms"],
            row_limit=request["rows"],
            hide_structural_keys=True,
        )
        return {"rows": result.to_list(), "total": result.diagnostics.get("total_rows") or len(result)}
    except kglite.CypherTimeoutError:
        return {"error": "timeout", "message": ""}
    except MemoryError:
        return {"error": "too_large", "message": ""}
    except (kglite.KgError, OverflowError, TypeError, ValueError) as error:
        return {"error": "query_error", "message": str(error)}


def _set_limits(memory: int) -> None:
    """Limit the memory to `memory` bytes beyond what graph and program take by now, and open files to those of now."""
    try:
        import resource
    except ImportError:
        threading.Thread(target=_end_above, args=(memory,), daemon=True).start()
        return  # the limit on open files is POSIX only
    if sys.platform == "linux":  # macOS does not keep such a limit
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + memory, taken + memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    free = os.dup(0)  # the lowest number that the next file would get
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, free))


def _end_above(memory: int) -> None:
    """End this process when it takes `memory` bytes more than now."""
    import psutil  # not needed where the system limits the memory

    process = psutil.Process()
    most = process.memory_info().rss + memory
    while process.memory_info().rss <= most:
        time.sleep(0.02)
    os._exit(1)


if __name__ == "__main__":
    main()
