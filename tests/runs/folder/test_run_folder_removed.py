"""The run folder, or a file in it, is taken away while a run writes to it: it stops before it pays for more (R04, R06)."""

import shutil
from pathlib import Path

import pytest

from graphwalk.errors import RunLogError
from graphwalk.files.json_lines import LineWriter, read_lines
from graphwalk.runs.folder.result import Result
from graphwalk.runs.playing.run_progress import Progress
from graphwalk.variables import Variables
from tests.models.server import Answer, ModelServer, Request, chat
from tests.runs.runs import experiment, start


class Taking(Progress):
    """Takes something away when the third episode is done."""

    def __init__(self, what: Path, how: str) -> None:
        self.what, self.how, self.seen = what, how, 0

    def finished(self, result: Result) -> None:
        self.seen += 1
        if self.seen != 3:
            return
        if self.how == "moved":
            self.what.rename(self.what.with_name("elsewhere"))
        elif self.what.is_dir():
            shutil.rmtree(self.what)
        else:
            self.what.unlink()
            if self.how == "replaced":
                self.what.touch()


@pytest.mark.parametrize(
    ("name", "how", "in_flight"),
    [
        ("", "removed", 1),
        ("", "moved", 4),
        ("results.jsonl", "removed", 4),
        ("results.jsonl", "replaced", 1),
        ("replies.jsonl", "removed", 4),
    ],
)
async def test_no_request_is_made_for_results_that_cannot_be_kept(
    tmp_path: Path, name: str, how: str, in_flight: int
) -> None:
    folder = tmp_path / "runs" / "run"
    taking = Taking(folder / name, how)

    def respond(request: Request) -> Answer:
        return Answer(chat("[]"), delay=0.01)

    async with ModelServer(respond) as server:
        config = experiment(models=["openai-api/local/m"], **{"limits.max_concurrency": in_flight})
        with pytest.raises(RunLogError, match="while it was written to") as caught:
            await start(folder, config, Variables({"LOCAL_BASE_URL": server.url}), taking)
        # Those under way when it happened, and none that was begun later.
        assert 3 <= len(server.requests) <= 3 + in_flight
    saved = list((tmp_path / "runs").glob(f"run-{name.removesuffix('.jsonl') or 'results'}-*.jsonl"))
    assert ("what it held is in" in caught.value.hint) == (how != "moved") == bool(saved)
    for place in saved:
        assert len(list(read_lines(place))) >= 3


async def test_a_run_without_a_model_server_ends_too(tmp_path: Path) -> None:
    taking = Taking(tmp_path / "run", "removed")
    with pytest.raises(RunLogError, match="removed or moved") as caught:
        await start(tmp_path / "run", experiment(), progress=taking)
    assert len(list(read_lines(Path(caught.value.hint.rpartition(" ")[2])))) >= 4


def test_the_line_that_was_to_follow_is_saved_too(tmp_path: Path) -> None:
    path = tmp_path / "run" / "results.jsonl"
    path.parent.mkdir()
    writer = LineWriter(path)
    writer.append({"number": 1})
    shutil.rmtree(path.parent)
    with pytest.raises(RunLogError) as caught:
        writer.append({"number": 2})
    saved = Path(caught.value.hint.rpartition(" ")[2])
    assert [record["number"] for record in read_lines(saved)] == [1, 2]
    assert saved.stat().st_mode & 0o077 == 0
    writer.close()
