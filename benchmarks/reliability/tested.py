"""Promises whose tests are the long form already: they are run, those marked slow too, and counted."""

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from benchmarks.markers import DOCS
from benchmarks.reliability.row import Row

Measure = Callable[[Path, int], Coroutine[Any, Any, Row]]


def by_tests(*selection: str) -> Measure:
    """What measures the promise that these arguments of pytest select the tests of; each test is one try."""

    async def measure(folder: Path, number: int) -> Row:
        found = folder / "tests.xml"
        words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={found}", *selection]
        if number > 1:
            words += ["-m", "slow or not slow"]
        run = await asyncio.create_subprocess_exec(
            sys.executable, *words, cwd=DOCS.parent, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}, stdout=2
        )
        await run.wait()
        counts = ElementTree.parse(found).getroot().find("testsuite")
        assert counts is not None, "pytest wrote no report"
        tests, failed, skipped = (int(counts.get(name, 0)) for name in ("tests", "failures", "skipped"))
        failed += int(counts.get("errors", 0))
        note = f"tests; {skipped} skipped" if skipped else "tests"
        return Row(
            tests - skipped, tests - skipped - failed, changed=failed, note=f"{note}: `pytest {_shown(selection)}`"
        )

    return measure


def _shown(selection: tuple[str, ...]) -> str:
    return " ".join(f'"{word}"' if " " in word else word for word in selection)
