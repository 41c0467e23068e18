"""Lines of other runs in a log are ignored, with a note."""

import json
from pathlib import Path
from typing import Any

import pytest

from graphwalk.files.json_lines import decode_line, encode_line
from graphwalk.runs.finished.reporting import report_of
from graphwalk.runs.finished.rescore import rescore_run
from graphwalk.runs.folder.listing import list_runs
from graphwalk.runs.folder.run_folder import ForeignLinesWarning, RunFolder
from graphwalk.variables import Variables
from tests.models.server import Answer, ModelServer, Request, chat
from tests.runs.runs import experiment, log_bytes, plain_log, records, start


def accuracy(folder: Path) -> Any:
    return report_of(RunFolder.open(folder)).rows[0]["accuracy"]


async def two_runs(tmp_path: Path) -> tuple[Path, Path]:
    """The same episodes, once wrong and once right."""

    def respond(request: Request) -> Answer:
        return Answer(chat("[]"))

    async with ModelServer(respond) as server:
        variables = Variables({"LOCAL_BASE_URL": server.url})
        config = experiment(models=["openai-api/local/m"])
        for name in ("one", "other"):
            await start(tmp_path / name, config, variables)
    return tmp_path / "one", tmp_path / "other"


def forged(line: bytes) -> bytes:
    """The line with a right answer, as another run would have logged it."""
    record = decode_line(line)
    record["score"] |= {"correct": True, "precision": 1.0, "recall": 1.0, "f1": 1.0}
    return encode_line(record)


async def test_lines_of_another_run_are_left_out(tmp_path: Path) -> None:
    one, other = await two_runs(tmp_path)
    before = accuracy(one)
    assert before < 50
    with plain_log(one).open("ab") as log:
        for line in log_bytes(other).splitlines(keepends=True):
            log.write(forged(line))
    with pytest.warns(ForeignLinesWarning, match=r"one/results\.jsonl: 12 lines of another run"):
        assert accuracy(one) == before
    (listed,) = list_runs(one)
    assert (listed.done, listed.accuracy) == (12, before)
    with pytest.warns(ForeignLinesWarning):
        assert rescore_run(RunFolder.open(one))[1] == 12
    assert accuracy(one) == before


async def test_a_copy_that_went_on_under_other_conditions_is_another_run(tmp_path: Path) -> None:
    await start(tmp_path / "run", experiment(models=["scripted/expert"]))
    folder = RunFolder.open(tmp_path / "run")
    line = plain_log(folder.path).read_bytes().splitlines(keepends=True)[0]
    manifest = folder.read_manifest()
    assert json.loads(line)["conditions"] == manifest["conditions"]
    assert json.loads(line)["run_id"] == manifest["run_id"]
    with folder.results_path.open("ab") as log:
        log.write(encode_line({**decode_line(line), "conditions": "0" * 16}))
        log.write(encode_line({k: v for k, v in decode_line(line).items() if k not in ("run_id", "conditions")}))
    with pytest.warns(ForeignLinesWarning, match="2 lines"):
        assert len(records(tmp_path / "run")) == 12
