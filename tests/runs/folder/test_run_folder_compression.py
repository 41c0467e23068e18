"""Results are compressed when a run is done: read all the same, added to all the same, and never lost."""

import gzip
import json
from pathlib import Path

from graphwalk.files.json_lines import compressed
from graphwalk.runs.folder.listing import list_runs
from graphwalk.runs.folder.run_folder import RunFolder
from tests.runs.runs import experiment, log_bytes, records, resume, start


async def test_a_finished_run_is_compressed_and_an_unfinished_one_is_not(tmp_path: Path) -> None:
    await start(tmp_path / "run", experiment(models=["scripted/expert"]))
    folder = RunFolder.open(tmp_path / "run")
    assert not folder.results_path.exists()
    plain = log_bytes(folder.path)
    packed = folder.results_file.read_bytes()
    assert gzip.decompress(packed) == plain
    assert len(packed) < len(plain) / 5
    assert [run.state for run in list_runs(folder.path)] == ["finished"]
    assert b"".join(compressed([plain])) == packed, "the same lines are the same bytes"
    assert len(records(folder.path)) == 12
    assert (await resume(folder.path)).finished == 12
    assert folder.results_file.read_bytes() == packed, "nothing to do, nothing written"


async def test_an_answer_with_a_task_in_it_is_listed(tmp_path: Path) -> None:
    await start(tmp_path / "run", experiment(models=["scripted/expert"], limit=1))
    folder = RunFolder.open(tmp_path / "run")
    (record,) = records(folder.path)
    folder.results_file.unlink()
    writer = folder.results_writer()
    writer.append({**json.loads(json.dumps(record)), "answer": {"a": 1, "task": {"b": 2}}})
    writer.close()
    (run,) = list_runs(folder.path)
    assert (run.state, run.done) == ("finished", 1)
