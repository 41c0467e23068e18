"""Runs that are killed, signalled, damaged or robbed of their folder (R01 to R09)."""

import asyncio
import random
import signal
import sys
import warnings
from pathlib import Path
from typing import Any

from benchmarks.reliability.row import Row
from graphwalk.errors import GraphwalkError, RunLogError
from graphwalk.jsonlines import LineWriter, read_lines
from graphwalk.runs.reporting import report_of
from graphwalk.runs.run_folder import ForeignLinesWarning, RunFolder
from graphwalk.settings import Settings
from tests.integration.killed_at import POINTS
from tests.integration.test_kills import begin, environment, table, thinker, wait_for_results
from tests.integration.test_signals import MANY, ended
from tests.models.server import Answer, ModelServer, chat
from tests.runs.runs import experiment, log_bytes, start
from tests.runs.test_foreign_lines import forged, two_runs
from tests.runs.test_vanished import Taking

CALLS = 3
"""The thinker calls its model so often in an episode."""


def words(folder: Path, episodes: int) -> list[str | Path]:
    graphs = ["--graphs", str(max(1, episodes // 12)), "--limit", str(episodes), "--max-concurrency", "4"]
    return ["run", "quickstart", "--model", "openai-api/local/m", *graphs, "--seed", "1", "--out", folder]


def keys(folder: Path) -> list[tuple[str, int]]:
    return [(record["task_id"], record["repeat"]) for record in RunFolder.open(folder).records()]


async def undisturbed(folder: Path, episodes: int) -> tuple[int, dict[str, Any]]:
    """Requests that the server got, and the table."""
    async with ModelServer(thinker) as server:
        await (await begin(server.url, *words(folder, episodes))).communicate()
        return len(server.requests), await table(server.url, folder)


async def kills(folder: Path, number: int) -> Row:
    """SIGKILL at random moments of a run and of its resumes, every third of which is killed at once again."""
    draw, episodes, run = random.Random(1), 120 if number >= 20 else 24, folder / "disturbed"
    asked, whole = await undisturbed(folder / "undisturbed", episodes)
    async with ModelServer(thinker) as server:
        command = words(run, episodes)
        for kill in range(number):
            process = await begin(server.url, *command)
            if kill % 3 < 2:
                await wait_for_results(run, kill * episodes // (number + 1))
            await asyncio.sleep(draw.uniform(0.0, 0.3))
            process.send_signal(signal.SIGKILL)
            await process.communicate()
            command = ["resume", run] if (run / "run.json").exists() else command
        await (await begin(server.url, *command)).communicate()
        return _compared(run, episodes, number, asked, whole, len(server.requests), await table(server.url, run))


async def named_points(folder: Path, number: int) -> Row:
    """SIGKILL at each named point of the write path, early and late; then again at the same point of the resume."""
    episodes, run, faults = 12 * max(1, number // 10), folder, 0
    asked, whole = await undisturbed(folder / "undisturbed", episodes)
    rows = []
    for point in POINTS:
        async with ModelServer(thinker) as server:
            run = folder / point.replace(" ", "-")
            command, faults = words(run, episodes), 0
            for times in (1, 3, 2, 1):
                faults += await _killed_at(server.url, point, times, command)
                command = ["resume", run] if (run / "run.json").exists() else command
            await (await begin(server.url, *command)).communicate()
            now = await table(server.url, run)
            rows.append(_compared(run, episodes, faults, asked, whole, len(server.requests), now))
    reached = sum(row.faults > 0 for row in rows)
    return Row.summed(rows, f"{reached} of {len(POINTS)} points: {', '.join(POINTS)}")


async def _killed_at(url: str, point: str, times: int, command: list[str | Path]) -> int:
    """1 where the point was reached, and the process died there."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.integration.killed_at", point, str(times), *map(str, command)),
        env=environment(url),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    return int(await process.wait() == -signal.SIGKILL)


def _compared(
    run: Path, episodes: int, faults: int, asked: int, whole: dict[str, Any], sent: int, now: dict[str, Any]
) -> Row:
    found = keys(run)
    lost, repeated = episodes - len(set(found)), len(found) - len(set(found))
    note = f"{sent - asked} of {asked} requests again: those under way at a kill"
    return Row(episodes, faults, lost, repeated, int(now != whole), note)


async def damage(folder: Path, number: int) -> Row:
    """A log of which one bit is flipped is refused, or reads as it did; a tail cut at every byte is left out."""
    path, draw = folder / "log.jsonl", random.Random(2)
    lines = [{"n": line, "text": "x" * 200} for line in range(100)]
    writer = LineWriter(path)
    for line in lines:
        writer.append(line)
    writer.close()
    whole, silent = path.read_bytes(), 0
    for _ in range(number):
        flipped = bytearray(whole)
        flipped[draw.randrange(len(flipped) - 1)] ^= 1 << draw.randrange(8)
        silent += _reads_wrong(path, bytes(flipped), lines)
    cuts = range(len(whole) - len(whole) // len(lines), len(whole))
    silent += sum(_reads_wrong(path, whole[:cut], lines[:99]) for cut in cuts)
    return Row(number + len(cuts), number + len(cuts), changed=silent, note="refused with the line's number")


def _reads_wrong(path: Path, log: bytes, expected: list[dict[str, Any]]) -> bool:
    path.write_bytes(log)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return list(read_lines(path)) != expected
    except RunLogError:
        return False


async def foreign_lines(folder: Path, number: int) -> Row:
    """Right answers of another run are appended to one that is wrong."""
    one, other = await two_runs(folder)
    before = report_of(RunFolder.open(one)).rows
    more = [forged(line) for line in log_bytes(other).splitlines(keepends=True)] * number
    RunFolder.open(one).results_writer().close()
    with (one / "results.jsonl").open("ab") as log:
        log.writelines(more)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", ForeignLinesWarning)
        after = report_of(RunFolder.open(one)).rows
    told = any(issubclass(warning.category, ForeignLinesWarning) for warning in said)
    return Row(len(more), len(more), changed=int(before != after), note="said in a warning" if told else "not said")


async def signals(folder: Path, number: int) -> Row:
    """SIGINT or SIGTERM at random moments of runs on the embedded engine."""
    draw, wrong = random.Random(4), 0
    for turn in range(number):
        signum = draw.choice((signal.SIGINT, signal.SIGTERM))
        try:
            await asyncio.to_thread(ended, folder / f"run{turn}", MANY, draw.uniform(0, 3), signum)
        except AssertionError as error:
            print(error, file=sys.stderr)
            wrong += 1
    return Row(number, number, changed=wrong, note="exit 130 or 143, with the command that resumes")


async def two_processes(folder: Path, number: int) -> Row:
    """The same run is resumed by two processes at the same moment."""
    lost = repeated = refused = 0
    for turn in range(number):
        run = folder / f"run{turn}"
        async with ModelServer(thinker) as server:
            first = await begin(server.url, *words(run, 24))
            await wait_for_results(run, 3)
            first.send_signal(signal.SIGKILL)
            await first.communicate()
            both = [await begin(server.url, "resume", run) for _ in range(2)]
            for process in both:
                await process.communicate()
        refused += sum(process.returncode == 3 for process in both)
        found = keys(run)
        lost, repeated = lost + 24 - len(set(found)), repeated + len(found) - len(set(found))
    return Row(24 * number, number, lost, repeated, note=f"{refused} of {number} second processes refused")


async def vanished(folder: Path, number: int) -> Row:
    """The folder, or a file of it, is removed, moved or replaced while 4 episodes are under way."""
    kinds = [("", "removed"), ("", "moved"), ("results.jsonl", "removed"), ("results.jsonl", "replaced")]
    paid = silent = 0
    for turn in range(number):
        name, how = kinds[turn % len(kinds)]
        run = folder / str(turn) / "run"
        async with ModelServer(lambda _: Answer(chat("[]"), delay=0.01)) as server:
            config = experiment(models=["openai-api/local/m"], **{"limits.max_concurrency": 4})
            try:
                await start(run, config, Settings({"LOCAL_BASE_URL": server.url}), Taking(run / name, how))
                silent += 1
            except GraphwalkError:
                paid = max(paid, len(server.requests) - 3)
    return Row(number, number, changed=silent, note=f"at most {paid} requests more, with 4 in flight")
