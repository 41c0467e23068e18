"""The lines of a log one by one: a run stops at a damaged one, looking for damage goes on."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graphwalk.jsonlines import decode_line, open_lines
from graphwalk.runner.verification.findings import Check


def checked_lines(path: Path, check: Check) -> Iterator[tuple[str, dict[str, Any]]]:
    """(`results.jsonl:7`, record) of every whole line; the others are noted in `check`."""
    with open_lines(path) as file:
        for number, line in enumerate(file, 1):
            where = f"{path.name}:{number}"
            if not line.endswith(b"\n"):
                check.unverified["cut off by a kill"] += 1
                continue
            try:
                record = decode_line(line)
            except (ValueError, RecursionError) as error:
                check.differing.append(f"{where}: {error}")
                continue
            check.verified += 1
            yield where, record
