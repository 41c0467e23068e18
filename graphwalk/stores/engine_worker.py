"""A process of its own for queries that a model wrote: it answers them from one graph until its input ends.

Run as a program. The first argument is the memory in bytes that queries may take. Messages are lines of JSON; the first
one is the graph: bytes of the engine in Base64. What a query may take is bounded by the engine (time) and by the system
(memory): a process that exceeds it ends alone.
"""

import base64
import json
import sys
from pathlib import Path
from typing import Any

import kglite

READY = b"ready\n"
"""The first answer: the graph is there."""


def main() -> None:
    """Answer queries from standard input."""
    kglite.set_query_warning_policy("silent")
    engine = kglite.from_bytes(base64.b64decode(sys.stdin.buffer.readline()))
    engine.read_only(True)
    _bound_memory(int(sys.argv[1]))
    answer = READY
    while True:
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()
        if not (asked := sys.stdin.buffer.readline()):
            return
        answer = json.dumps(_answer(engine, json.loads(asked))).encode() + b"\n"


def _answer(engine: Any, asked: dict[str, Any]) -> dict[str, Any]:
    """Return {"rows", "total"}, or {"error", "message"}."""
    try:
        found = engine.cypher(
            asked["cypher"],
            params=asked["parameters"],
            timeout_ms=asked["timeout_ms"],
            row_limit=asked["rows"],
            hide_structural_keys=True,
        )
        return {"rows": found.to_list(), "total": found.diagnostics.get("total_rows") or len(found)}
    except kglite.CypherTimeoutError:
        return {"error": "timeout", "message": ""}
    except MemoryError:
        return {"error": "too_large", "message": ""}
    except (kglite.KgError, OverflowError, TypeError, ValueError) as error:
        return {"error": "query_error", "message": str(error)}


def _bound_memory(more: int) -> None:
    """Limit the memory to `more` bytes beyond what graph and program take by now."""
    if sys.platform == "linux":  # elsewhere the system does not keep such a limit
        import resource

        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        limit = taken + more
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()
