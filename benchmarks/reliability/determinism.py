"""The same seed in other processes, with other hash seeds, numbers of workers, and versions of Python (R20)."""

import asyncio
import json
import os
import subprocess
from pathlib import Path

from benchmarks.reliability.row import Row
from tests.interpreters import interpreters, run_here, run_with

MADE = "tests.made_digests"


async def processes(folder: Path, number: int) -> Row:
    """So many processes of this Python, and one of each other; the digests of all have to be the same."""
    made = []
    for seed in range(number):
        environment = {**os.environ, "PYTHONHASHSEED": str(seed * 1000)}
        made.append(await asyncio.to_thread(run_here, MADE, str((1, 8, 64)[seed % 3]), environment=environment))
    others = interpreters() if number > 2 else {}
    versions = []
    for version, python in others.items():
        try:
            made.append(await asyncio.to_thread(run_with, python, MADE, "4"))
            versions.append(version)
        except subprocess.CalledProcessError:  # its packages cannot be had here
            continue
    changed = sum(one != made[0] for one in made)
    parts = sum(len(held) if isinstance(held, dict) else 1 for held in json.loads(made[0]).values())
    note = f"hash seeds, 1 to 64 workers, Python {', '.join(versions) or 'of this process'}; {parts} digests each"
    return Row(len(made) * parts, len(made) - 1, changed=changed, note=note)
