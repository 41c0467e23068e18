"""A flush to disk that fails ends the run: nothing is paid for or written any more, and a resume completes it."""

import errno
import os
from pathlib import Path

import pytest

from graphwalk.errors import RunLogError
from graphwalk.files import json_lines
from graphwalk.variables import Variables
from tests.models.server import Answer, ModelServer, Request, chat
from tests.runs.runs import experiment, records, resume, start


class FailingFlush:
    """An `os.fsync` that fails for one file from its first call on, and records the size of the file then."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path, self.size, self._fsync = path, -1, os.fsync
        monkeypatch.setattr(os, "fsync", self)

    def __call__(self, number: int) -> None:
        if self.path.exists() and os.path.samestat(os.fstat(number), self.path.stat()):
            assert self.size < 0, "a second flush would succeed without the lost lines"
            self.size = os.fstat(number).st_size
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        self._fsync(number)


@pytest.mark.parametrize("name", ["results.jsonl", "replies.jsonl"])
async def test_no_request_follows_a_failed_flush(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "_SYNC_SECONDS", 0)
    later = list[Request]()

    def respond(request: Request) -> Answer:
        if failing.size >= 0:
            later.append(request)
        return Answer(chat("[]"), delay=0.01)

    config = experiment(models=["openai-api/local/m"], **{"limits.max_concurrency": 4})
    async with ModelServer(respond) as server:
        variables = Variables({"LOCAL_BASE_URL": server.url})
        with monkeypatch.context() as patched:
            failing = FailingFlush(tmp_path / "run" / name, patched)
            with pytest.raises(RunLogError, match=f"{name} cannot be written: Input/output error"):
                await start(tmp_path / "run", config, variables)
        assert len(later) <= 4, "those under way when it failed"
        assert failing.path.stat().st_size == failing.size
        replies = json_lines.read_lines(tmp_path / "run" / "replies.jsonl")
        paid = len(server.requests) - len(list(replies))
        assert (await resume(tmp_path / "run", variables)).finished == 12
        assert len(server.requests) <= 12 + paid
    assert len(records(tmp_path / "run")) == 12
