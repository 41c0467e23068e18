"""A run as one file: the same bytes each time, nothing of the machine in it, and nothing in it is trusted."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from graphwalk.errors import RunLogError
from graphwalk.files.json_lines import encode_line
from graphwalk.reports.formats import to_json
from graphwalk.runs.finished.compare_runs import compare_runs
from graphwalk.runs.finished.publishing import publish
from graphwalk.runs.finished.reporting import report_of
from graphwalk.runs.finished.rescore import rescore_run
from graphwalk.runs.folder.run_folder import RunFolder
from graphwalk.sanitise import Cleaner
from graphwalk.variables import Variables
from tests.cli.test_commands import graphwalk
from tests.exports.hostile_run import RUNS, copied
from tests.runs.runs import experiment, records, resume, start

SECRET = "s3cr3t-of-the-lab"
# Put together here, so that no scanner takes this file for a leak.
LOOKS_LIKE_KEYS = ["sk-" + "proj4" * 6, "AKIA" + "ABCDEFGHIJKLMNOP", "ghp_" + "a1" * 18, "hf_" + "b2" * 17]
SETTINGS = Variables({"LAB_API_KEY": SECRET})


async def a_run(folder: Path, **changes: Any) -> RunFolder:
    await start(folder, experiment(models=["scripted/expert", "scripted/flawed"], limit=3, **changes))
    return RunFolder.open(folder)


def planted(folder: RunFolder, text: str) -> None:
    """The text in a reply, as if a model had said it."""
    changed = records(folder.path)
    changed[0]["trajectory"]["turns"][-1]["message"]["content"] = f"I found {text}."
    folder.results_file.unlink()
    writer = folder.results_writer()
    for record in changed:
        writer.append(record)
    writer.close()


def everything_in(path: Path) -> str:
    run = RunFolder.open(path)
    files = [file.read_bytes().decode() for file in run.path.rglob("*") if file.is_file() and file.suffix != ".gz"]
    return "".join([*files, *map(json.dumps, run.records())])


@pytest.mark.extended
async def test_the_same_run_is_the_same_file_and_is_read_as_a_folder_is(tmp_path: Path) -> None:
    folder = await a_run(tmp_path / "run")
    one, two = tmp_path / "one.zip", tmp_path / "two.zip"
    publish(folder, one, Cleaner({}))
    publish(folder, two, Cleaner({}))
    assert one.read_bytes() == two.read_bytes()
    read = RunFolder.open(one)
    assert list(read.records()) == list(folder.records())
    assert report_of(read).as_dict() == report_of(folder).as_dict()
    there, here = (json.loads(to_json(compare_runs([path]))) for path in (one, folder.path))
    assert there == here
    shown = {word: graphwalk(word, one) for word in ("report", "verify", "show")}
    assert {word: done.returncode for word, done in shown.items()} == dict.fromkeys(shown, 0), shown
    assert "verified: no difference" in shown["verify"].stderr
    assert graphwalk("export", "csv", one, "--out", tmp_path / "tables").returncode == 0
    names = zipfile.ZipFile(one).namelist()
    assert {"README.md", "run.json", "results.jsonl.gz", "SHA256SUMS", "texts/experiment.yaml"} <= set(names)
    assert "run.log" not in names


async def test_a_published_run_says_how_it_is_cited_and_repeated(tmp_path: Path) -> None:
    folder = await a_run(tmp_path / "run", names={"scripted/expert": "Alpha"})
    publish(folder, tmp_path / "run.zip", Cleaner({}))
    readme = zipfile.ZipFile(tmp_path / "run.zip").read("README.md").decode()
    citation = readme.partition("## CITATION\n\n")[2]
    digest = RunFolder.open(tmp_path / "run.zip").results_digest()
    assert "6 episodes of Alpha (scripted/expert), scripted/flawed; seed 7." in citation
    assert f"Results sha256 {digest}." in citation
    assert f"prints results sha256 {digest}" in readme
    assert "git checkout" in readme
    assert "-dirty\n" not in readme.partition("git checkout")[2]


async def test_a_published_run_is_not_written_to(tmp_path: Path) -> None:
    out = tmp_path / "run.zip"
    publish(await a_run(tmp_path / "run"), out, Cleaner({}))
    before = out.read_bytes()
    with pytest.raises(RunLogError, match="read-only") as caught:
        await resume(out)
    assert "unzip" in caught.value.hint
    with pytest.raises(RunLogError, match="read-only"):
        rescore_run(RunFolder.open(out))
    assert out.read_bytes() == before


async def test_nothing_of_the_machine_and_no_secret_goes_along(tmp_path: Path) -> None:
    folder = await a_run(tmp_path / "run")
    private = (
        f"{SECRET} at /home/alice/graphs/x.json, C:\\Users\\alice\\x, https://bob:hunter2@lab.invalid/, {tmp_path}/y"
    )
    planted(folder, private)
    manifest = folder.read_manifest()
    manifest["config"]["servers"] = {"lab": "http://intra.example:8000/v1"}
    manifest["config"]["suite"]["graphs"][0]["file"] = "/srv/data/alice/secret-graph.json"
    folder.write_manifest(manifest)
    (folder.path / "run.log").write_text(f"{SECRET} alice")
    with pytest.raises(RunLogError, match=r"results\.jsonl:1: the value of LAB_API_KEY") as caught:
        publish(folder, tmp_path / "run.zip", Cleaner(SETTINGS.values, folder=tmp_path))
    assert SECRET not in str(caught.value)
    assert not (tmp_path / "run.zip").exists()
    removed = publish(folder, tmp_path / "run.zip", Cleaner(SETTINGS.values, redact=True, folder=tmp_path))
    said = everything_in(tmp_path / "run.zip")
    for word in (SECRET, "alice", "hunter2", "intra.example", "/srv/data", str(tmp_path)):
        assert word not in said
    assert "./secret-graph.json" in said
    assert removed["addresses of servers"] == 1
    assert removed["secrets"] >= 1


def test_of_a_model_that_its_server_names_by_a_path_the_file_name_remains(tmp_path: Path) -> None:
    folder = copied("questions", tmp_path / "run")
    line = {"key": "k", "reply": {"message": {"role": "assistant", "content": "[]"}, "model": "/srv/models/tiny.gguf"}}
    folder.replies_path.write_bytes(encode_line(line))
    publish(folder, tmp_path / "run.zip", Cleaner({}))
    assert [one["reply"]["model"] for one in RunFolder.open(tmp_path / "run.zip").replies()] == ["./tiny.gguf"]


async def test_possible_keys_are_refused_or_redacted(tmp_path: Path) -> None:
    folder, out = copied("questions", tmp_path / "run"), tmp_path / "run.zip"
    planted(folder, ", ".join(LOOKS_LIKE_KEYS))
    with pytest.raises(RunLogError, match=r"results\.jsonl:1") as caught:
        publish(folder, out, Cleaner({}))
    assert not any(key in str(caught.value) for key in LOOKS_LIKE_KEYS)
    assert not out.exists()
    publish(folder, out, Cleaner({}, redact=True))
    assert not any(key in everything_in(out) for key in LOOKS_LIKE_KEYS)
    done = graphwalk("publish", folder.path, "--out", tmp_path / "cli.zip")
    assert (done.returncode, done.stdout, "--redact" in done.stderr) == (3, "", True)


async def test_a_credential_in_the_settings_of_an_earlier_version_is_refused(tmp_path: Path) -> None:
    folder, out = await a_run(tmp_path / "run"), tmp_path / "run.zip"
    planted(folder, SECRET)
    manifest = folder.read_manifest()
    manifest["config"]["options"]["extra"] = {"http": {"apiKey": SECRET}}
    folder.write_manifest(manifest)
    with pytest.raises(RunLogError, match=r"run\.json: options\.extra\.http\.apiKey"):
        publish(folder, out, Cleaner({}))
    publish(folder, out, Cleaner({}, redact=True))
    assert SECRET not in everything_in(out)


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
    "name",
    ["../evil", "/etc/evil", "texts/../../evil", "evil.py", "texts\\..\\evil", "texts/C:evil", "texts/a\x1bb"],
)
def test_a_foreign_file_in_an_archive_is_refused(name: str, tmp_path: Path) -> None:
    out = tmp_path / "run.zip"
    publish(copied("mazes", tmp_path / "run"), out, Cleaner({}))
    evil = rewritten(out, tmp_path / "evil.zip", **{name: b"x"})
    with pytest.raises(RunLogError, match=r"no file of a run|cannot be read"):
        RunFolder.open(evil)
    assert not list(tmp_path.rglob("evil"))


def test_a_changed_missing_or_swollen_archive_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "run.zip"
    publish(copied("mazes", tmp_path / "run"), out, Cleaner({}))
    assert len(list(RunFolder.open(out).records())) == 4
    for number, changes in enumerate(
        ({"README.md": b"other"}, {"SHA256SUMS": None}, {"results.jsonl.gz": None}, {"texts/new": b"x"})
    ):
        with pytest.raises(RunLogError, match="cannot be read as a published run"):
            RunFolder.open(rewritten(out, tmp_path / f"{number}.zip", **changes))
    (tmp_path / "cut.zip").write_bytes(out.read_bytes()[:-30])
    with pytest.raises(RunLogError, match=r"no run\.json"):
        RunFolder.open(tmp_path / "cut.zip")


def test_an_archive_that_unpacks_into_more_than_any_run_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphwalk.runs.folder.published._LITTLE", 1 << 16)
    out, large = tmp_path / "run.zip", tmp_path / "large.zip"
    publish(copied("mazes", tmp_path / "run"), out, Cleaner({}))
    with zipfile.ZipFile(out) as old, zipfile.ZipFile(large, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
        new.writestr("texts/large", b" " * (1 << 24))
    with pytest.raises(RunLogError, match="it contains more than"):
        RunFolder.open(large)


def test_publish_lists_removed_text(tmp_path: Path) -> None:
    done = graphwalk("publish", RUNS / "mazes", "--out", "a run.tar", folder=tmp_path)
    assert (done.returncode, "a run.tar does not end in .zip" in done.stderr) == (2, True)
    assert "--out 'a run.zip'" in done.stderr
    done = graphwalk("publish", RUNS / "mazes", "--out", "a run.zip", folder=tmp_path)
    assert (done.returncode, "graphwalk report 'a run.zip'" in done.stderr) == (0, True)


@pytest.mark.parametrize("place", ["texts/x", "texts", "results.jsonl"])
def test_a_link_out_of_the_run_folder_is_refused(place: str, tmp_path: Path) -> None:
    """By all that copies from a folder, or writes into it; the target is neither read nor changed."""
    folder, other, out = copied("mazes", tmp_path / "run"), tmp_path / "other", tmp_path / "run.zip"
    link = folder.path / place
    if link.exists():
        link.rename(other)
    else:
        other.write_text("private")
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(other)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for done in (
        graphwalk("publish", folder.path, "--out", out),
        graphwalk("resume", folder.path),
        graphwalk("rescore", folder.path),
        graphwalk("verify", folder.path),
    ):
        assert (done.returncode, "is a link to a place outside" in done.stderr) == (3, True), done.stderr
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_link_inside_its_folder_is_a_file_like_any_other(tmp_path: Path) -> None:
    folder, out = copied("mazes", tmp_path / "run"), tmp_path / "run.zip"
    (folder.texts_path / "prompts").mkdir(parents=True, exist_ok=True)
    (folder.texts_path / "prompts" / "a.j2").write_text("Now!")
    (folder.texts_path / "prompts" / "b.j2").symlink_to("a.j2")
    publish(folder, out, Cleaner({}))
    assert zipfile.ZipFile(out).read("texts/prompts/b.j2") == b"Now!"
