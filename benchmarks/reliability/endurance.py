"""Very many episodes, very many in flight, very long logs (R37, R38)."""

import asyncio
import json
import resource
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil

from benchmarks.reliability.row import Row
from graphwalk.runs.listing import list_runs
from graphwalk.runs.reporting import report_of
from graphwalk.runs.run_folder import RunFolder
from graphwalk.settings import Settings
from tests.models.server import Answer, ModelServer, chat
from tests.runs.runs import experiment, records, start


async def episodes(folder: Path, number: int) -> Row:
    """Scripted agents in one process: what memory and files they take after the first tenth, and at the end."""
    process, begun, sizes = psutil.Process(), time.monotonic(), []
    for part in range(10):
        config = experiment(models=["scripted/expert"], repeats=max(1, number // 120))
        await start(folder / str(part), config)
        sizes.append((process.memory_info().rss / 2**20, process.num_fds()))
    total = 10 * 12 * max(1, number // 120)
    found = sum(sum(1 for _ in RunFolder.open(folder / str(part)).records()) for part in range(10))
    (first, files), (last, files_now) = sizes[0], sizes[-1]
    note = f"{first:.0f} MB after a tenth, {last:.0f} MB at the end; files open: {files}, {files_now}"
    return Row(total, 0, total - found, 0, 0, f"{note}; {time.monotonic() - begun:.0f} s")


async def file_handles(folder: Path, number: int) -> Row:
    """256 episodes in flight in a process that may have 256 files open."""
    code = f"from benchmarks.reliability.endurance import crowded; crowded({str(folder / 'run')!r}, {number})"
    with subprocess.Popen(  # noqa: ASYNC220 - it is looked at, not waited for
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as run:
        seen, most = psutil.Process(run.pid), 0
        while run.poll() is None:  # from outside: looking takes files, too
            with suppress(psutil.Error):
                most = max(most, sum(c.status == psutil.CONN_ESTABLISHED for c in seen.net_connections("tcp")))
            await asyncio.sleep(0.05)
        said, complaint = (stream.decode() for stream in run.communicate())
    if run.returncode:
        return Row(number, 0, number, note=complaint.strip().splitlines()[-1])
    found = json.loads(said.splitlines()[-1])
    note = f"{most} connections at most, {found['files']} files open at the end"
    return Row(number, 0, number - found["answered"], 0, 0, note)


def crowded(folder: str, number: int) -> None:
    """In a process of its own: the server is in another one, so that the files are those of the run alone."""
    words = [sys.executable, "-m", "tests.models.server", "--delay", "0.5"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
        flags = {"suite.questions": ["node_count"], "repeats": number, "limits.max_concurrency": 256}
        config = experiment(models=["openai-api/local/m"], **flags)
        try:
            asyncio.run(start(Path(folder), config, Settings({"LOCAL_BASE_URL": url})))
        finally:
            server.kill()
    answered = sum(record["score"] is not None for record in records(Path(folder)))
    print(json.dumps({"answered": answered, "files": psutil.Process().num_fds()}))


async def large_log(folder: Path, number: int) -> Row:
    """A log of very many results: listed, reported, and what memory its report takes."""
    async with ModelServer(lambda _: Answer(chat("[]")), record=False) as server:
        config = experiment(models=["openai-api/local/m"])
        await start(folder / "run", config, Settings({"LOCAL_BASE_URL": server.url}))
    first, *_ = records(folder / "run")
    run = RunFolder.open(folder / "run")
    writer = run.results_writer()
    for repeat in range(1, number):
        writer.append({**{k: v for k, v in first.items() if k != "crc32"}, "repeat": repeat})
    writer.close()
    size, begun = run.results_path.stat().st_size / 2**20, time.monotonic()
    list_runs(folder)
    listed, before = time.monotonic() - begun, psutil.Process().memory_info().rss
    report_of(run)
    seconds, grown = time.monotonic() - begun - listed, (psutil.Process().memory_info().rss - before) / 2**20
    note = f"{size:.0f} MB: listed in {listed:.1f} s, reported in {seconds:.1f} s with {grown:.0f} MB more"
    return Row(number, 0, note=note)
