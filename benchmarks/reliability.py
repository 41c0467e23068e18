"""What withstands what, in figures: the long forms of the promises, measured and written into docs/reliability.md.

Each function below tries one promise and returns its row: tries, faults survived, episodes lost, repeated, changed.
"""

import argparse
import asyncio
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks.markers import DOCS, markdown_table, write_between_markers
from graphwalk.jsonlines import LineWriter, read_lines
from graphwalk.runlog.run_folder import RunFolder
from graphwalk.runner.reporting import report_of
from tests.integration.test_kills import begin, start_words, table, thinker
from tests.models.server import ModelServer
from tests.neo4j_servers import RELEASE_NAMES
from tests.runner.own_server import own_server
from tests.runner.runs import experiment, records, resume, start
from tests.runner.test_outages import EPISODES, Disturbed, disturbed, scores

COLUMNS = ("promise", "tries", "faults survived", "lost", "repeated", "changed", "note")


@dataclass(frozen=True)
class Row:
    """`lost`, `repeated`, `changed`: episodes or lines that are not as in an undisturbed run; all should be 0."""

    promise: str
    tries: int
    faults: int
    lost: int
    repeated: int
    changed: int
    note: str = ""

    def cells(self) -> list[str]:
        return [self.promise, *map(str, (self.tries, self.faults, self.lost, self.repeated, self.changed)), self.note]


def kills(folder: Path, number: int) -> Row:
    """R01, R02: SIGKILL at random moments of a run and of its resumes."""
    return asyncio.run(_kills(folder, number))


async def _kills(folder: Path, number: int) -> Row:
    draw, disturbed_run = random.Random(1), folder / "disturbed"
    async with ModelServer(thinker) as server:
        await (await begin(server.url, *start_words(folder / "undisturbed", 1))).communicate()
        asked, words = len(server.requests), start_words(disturbed_run, 1)
        server.requests.clear()
        for _ in range(number):
            process = await begin(server.url, *words)
            await asyncio.sleep(draw.uniform(1.0, 4.0))
            process.send_signal(signal.SIGKILL)
            await process.communicate()
            words = ["resume", disturbed_run] if (disturbed_run / "run.json").exists() else words
        await (await begin(server.url, *words)).communicate()
        keys = [(r["task_id"], r["repeat"]) for r in RunFolder.open(disturbed_run).records()]
        same = await table(server.url, disturbed_run) == await table(server.url, folder / "undisturbed")
        extra = len(server.requests) - asked
    lost, repeated = 24 - len(set(keys)), len(keys) - len(set(keys))
    return Row("killed at any moment", 24, number, lost, repeated, int(not same), f"{extra} of {asked} requests again")


def damage(folder: Path, number: int) -> Row:
    """R03: a log cut or flipped at a random byte is told from a whole one."""
    path, draw = folder / "log.jsonl", random.Random(2)
    writer = LineWriter(path)
    for line in range(100):
        writer.append({"n": line, "text": "x" * 200})
    writer.close()
    whole, silent = path.read_bytes(), 0
    for _ in range(number):
        flipped = bytearray(whole)
        flipped[draw.randrange(len(flipped) - 1)] ^= 1 << draw.randrange(8)
        path.write_bytes(flipped)
        try:
            silent += list(read_lines(path)) != [{"n": line, "text": "x" * 200} for line in range(100)]
        except Exception:
            continue
    return Row("a byte of the log flipped", number, number, 0, 0, silent)


def restarts(folder: Path, number: int) -> Row:
    """R24: Neo4j killed in the middle of runs, every fourth time with all its data."""
    return asyncio.run(_restarts(folder, number))


async def _restarts(folder: Path, number: int) -> Row:
    draw, lost, wrong = random.Random(3), 0, 0
    for release in RELEASE_NAMES:
        with own_server(folder / release, release) as server:
            for turn in range(number):
                run, empty = folder / f"{release}-{turn}", turn % 4 == 3
                at = draw.randrange(1, EPISODES // 2)
                await disturbed(run, server, Disturbed(at, lambda s=server, e=empty: s.restart(empty=e)))
                await resume(run, server.environment)
                right, false, _ = scores(run)
                lost, wrong = lost + EPISODES - right - false, wrong + false
    tries = number * len(RELEASE_NAMES)
    return Row("Neo4j killed in a run", tries * EPISODES, tries, lost, 0, wrong, ", ".join(RELEASE_NAMES))


def endurance(folder: Path, number: int) -> Row:
    """R37: very many episodes in one process: what memory and files they take."""
    process, begun = psutil.Process(), time.monotonic()
    config = experiment(models=["scripted/expert"], repeats=max(1, number // 12), **{"limits.max_concurrency": 256})
    asyncio.run(start(folder / "warm", experiment(models=["scripted/expert"], repeats=20)))
    before = process.memory_info().rss
    asyncio.run(start(folder / "run", config))
    grown = (process.memory_info().rss - before) / 2**20
    found = len(records(folder / "run"))
    note = f"+{grown:.0f} MB, {process.num_fds()} files open, {time.monotonic() - begun:.0f} s"
    return Row("episodes in one process", config.repeats * 12, 0, config.repeats * 12 - found, 0, 0, note)


def large_log(folder: Path, number: int) -> Row:
    """R38: a report of very many results."""
    asyncio.run(start(folder / "run", experiment(models=["scripted/expert"])))
    (first, *_) = records(folder / "run")
    run = RunFolder.open(folder / "run")
    writer = run.results_writer()
    for repeat in range(1, number):
        writer.append({**{k: v for k, v in first.items() if k != "crc32"}, "repeat": repeat})
    writer.close()
    begun = time.monotonic()
    report_of(run)
    seconds = time.monotonic() - begun
    return Row("results in one log", number, 0, 0, 0, 0, f"reported in {seconds:.1f} s")


PROMISES: dict[str, tuple[Callable[[Path, int], Row], int, int]] = {
    "kills": (kills, 20, 2),
    "damage": (damage, 2000, 50),
    "restarts": (restarts, 20, 1),
    "endurance": (endurance, 20_000, 120),
    "large-log": (large_log, 100_000, 500),
}
"""Name → how it is tried, how often in the long form, how often to see that it works."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reliability", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(PROMISES)}; default: all")
    parser.add_argument("--quick", action="store_true", help="few tries, printed and not written into the page")
    options = parser.parse_args()
    rows = []
    for name in options.names or PROMISES:
        print(f"{name} …", file=sys.stderr, flush=True)
        tried, long, quick = PROMISES[name]
        with tempfile.TemporaryDirectory(prefix="graphwalk-reliability-") as folder:
            rows.append(tried(Path(folder), quick if options.quick else long))
    text = markdown_table(COLUMNS, [row.cells() for row in rows])
    print(text)
    if not options.quick and not options.names:
        write_between_markers(DOCS / "reliability.md", "reliability", text)


if __name__ == "__main__":
    main()
