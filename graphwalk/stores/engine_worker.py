"""A process of its own for queries that a model wrote: it answers them from one graph until its input ends.

Run as a program. The first argument is the memory in bytes that queries may take. Messages are JSON with their length
before them; the first one is the graph, as bytes of the engine. What a query may take is bounded by the engine (time)
and by the system (memory): a process that exceeds it ends alone.
"""

import json
import struct
import sys
from pathlib import Path
from typing import IO, Any

import kglite

LENGTH = struct.Struct(">Q")
READY = b"ready"
"""The first answer: the graph is there."""


def main() -> None:
    """Answer queries from standard input."""
    kglite.set_query_warning_policy("silent")
    engine = kglite.from_bytes(read_message(sys.stdin.buffer))
    engine.read_only(True)
    _bound_memory(int(sys.argv[1]))
    write_message(sys.stdout.buffer, READY)
    while asked := read_message(sys.stdin.buffer):
        write_message(sys.stdout.buffer, json.dumps(_answer(engine, json.loads(asked))).encode())


def read_message(stream: IO[bytes]) -> bytes:
    """Return the next message; empty at the end of the stream."""
    head = stream.read(LENGTH.size)
    return stream.read(LENGTH.unpack(head)[0]) if len(head) == LENGTH.size else b""


def write_message(stream: IO[bytes], message: bytes) -> None:
    stream.write(LENGTH.pack(len(message)) + message)
    stream.flush()


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
