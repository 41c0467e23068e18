"""A run as one file: the same bytes each time, no secret in it, and nothing in it is trusted."""

import zipfile
from pathlib import Path
from typing import Any

import pytest

from graphwalk.analysis.publishing import publish
from graphwalk.analysis.report.report import report_of
from graphwalk.analysis.rescore import rescore_run
from graphwalk.errors import RunLogError
from graphwalk.files.json_lines import encode_line
from graphwalk.runs.folder import RunFolder
from graphwalk.sanitise import Secrets
from tests.analysis.exports.hostile_run import copied
from tests.forked_commands import graphwalk
from tests.runs.runs import experiment, resume, rewrite, start

SECRET = "s3cr3t-of-the-lab"


async def a_run(folder: Path, **changes: Any) -> RunFolder:
    await start(folder, experiment(models=["scripted/expert", "scripted/flawed"], limit=3, **changes))
    return RunFolder.open(folder)


@pytest.mark.extended
async def test_the_same_run_is_the_same_file_and_is_read_as_a_folder_is(tmp_path: Path) -> None:
    folder = await a_run(tmp_path / "run")
    one, two = tmp_path / "one.zip", tmp_path / "two.zip"
    for out in (one, two):
        assert graphwalk("publish", folder.path, "--out", out).returncode == 0
    assert one.read_bytes() == two.read_bytes()
    read = RunFolder.open(one)
    assert list(read.records()) == list(folder.records())
    assert report_of(read).as_dict() == report_of(folder).as_dict()
    shown = {word: graphwalk(word, one) for word in ("report", "verify", "show")}
    assert {word: done.returncode for word, done in shown.items()} == dict.fromkeys(shown, 0), shown
    assert "verified: no difference" in shown["verify"].stderr
    assert graphwalk("export", "csv", one, "--out", tmp_path / "tables").returncode == 0
    names = zipfile.ZipFile(one).namelist()
    assert {"README.md", "run.json", "results.jsonl", "SHA256SUMS", "texts/experiment.yaml"} <= set(names)
    assert "run.log" not in names


async def test_a_published_run_says_how_it_is_cited_and_repeated(tmp_path: Path) -> None:
    folder = await a_run(tmp_path / "run", names={"scripted/expert": "Alpha"})
    publish(folder, tmp_path / "run.zip", Secrets({}))
    readme = zipfile.ZipFile(tmp_path / "run.zip").read("README.md").decode()
    citation = readme.partition("## CITATION\n\n")[2]
    digest = RunFolder.open(tmp_path / "run.zip").results_digest()
    assert "6 episodes of Alpha (scripted/expert), scripted/flawed; seed 7." in citation
    assert f"Results sha256 {digest}." in citation
    assert f"prints results sha256 {digest}" in readme


async def test_a_published_run_is_not_written_to(tmp_path: Path) -> None:
    out = tmp_path / "run.zip"
    publish(await a_run(tmp_path / "run"), out, Secrets({}))
    before = out.read_bytes()
    with pytest.raises(RunLogError, match="read-only") as caught:
        await resume(out)
    assert "unzip" in caught.value.hint
    with pytest.raises(RunLogError, match="read-only"):
        rescore_run(RunFolder.open(out))
    assert out.read_bytes() == before


@pytest.mark.parametrize("place", ["results.jsonl:1", "replies.jsonl:1", "run.json", "texts/note"])
def test_a_run_that_contains_a_secret_is_not_published(place: str, tmp_path: Path) -> None:
    folder, out = copied("questions", tmp_path / "run"), tmp_path / "run.zip"
    if place == "results.jsonl:1":
        rewrite(folder.path, lambda log: log[0]["trajectory"]["turns"][-1]["message"].update(content=SECRET))
    elif place == "replies.jsonl:1":
        line = {"key": "k", "reply": {"message": {"role": "assistant", "content": SECRET}}}
        folder.replies_path.write_bytes(encode_line(line))
    elif place == "run.json":
        folder.write_manifest({**folder.read_manifest(), "name": f"for {SECRET}"})
    else:
        folder.texts_path.mkdir(exist_ok=True)
        (folder.texts_path / "note").write_text(SECRET)
    with pytest.raises(RunLogError, match=f"{place} contains the value of LAB_API_KEY") as caught:
        publish(folder, out, Secrets({"LAB_API_KEY": SECRET}))
    assert SECRET not in f"{caught.value} {caught.value.hint}"
    assert not out.exists()


def rewritten(source: Path, out: Path, **changes: bytes | None) -> Path:
    """A copy of an archive with files put in, replaced, or (None) left out."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            if name not in changes:
                new.writestr(name, old.read(name))
        for name, content in changes.items():
            if content is not None:
                new.writestr(name, content)
    return out


@pytest.mark.parametrize(
    "changes",
    [
        {"README.md": b"other"},
        {"SHA256SUMS": None},
        {"results.jsonl": None},
        {"texts/new": b"x"},
        {"/etc/evil": b"x"},
        {"texts/../../evil": b"x"},
    ],
    ids=str,
)
def test_an_archive_with_a_changed_missing_or_foreign_file_is_refused(
    changes: dict[str, bytes | None], tmp_path: Path
) -> None:
    out = tmp_path / "run.zip"
    publish(copied("mazes", tmp_path / "run"), out, Secrets({}))
    assert len(list(RunFolder.open(out).records())) == 4
    with pytest.raises(RunLogError, match="cannot be read as a published run"):
        RunFolder.open(rewritten(out, tmp_path / "changed.zip", **changes))
    assert not list(tmp_path.rglob("evil"))
