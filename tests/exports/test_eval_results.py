"""Results for the Hugging Face hub, read with its own parser where `huggingface_hub` is installed."""

import hashlib
import json
from datetime import datetime
from importlib import import_module, util
from pathlib import Path
from typing import Any

import pytest
import yaml

import graphwalk as api
from graphwalk.errors import ConfigError, RunLogError
from graphwalk.exports.eval_results import export_eval_results
from graphwalk.files.json_lines import encode_line, read_lines
from graphwalk.runs.finished.reporting import report_of
from graphwalk.runs.folder.run_folder import RunFolder
from tests.cli.test_commands import graphwalk
from tests.exports.hostile_run import MODEL, RUNS, copied, hostile_run

DATASET = "organisation/graphs-100"
FIELDS = {"dataset": {"id", "task_id", "revision"}, "source": {"url", "name", "user", "org"}}
"""Fields of the objects of an entry in the documentation of the hub."""
OTHERS = {"value", "verifyToken", "date", "notes"}


def entry_of(path: Path) -> dict[str, Any]:
    """Return the only entry of a file, checked against the documented fields and by the parser of the hub."""
    (entry,) = entries = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert {"dataset", "value"} <= entry.keys() <= {*FIELDS, *OTHERS}
    assert all(entry[name].keys() <= fields for name, fields in FIELDS.items() if name in entry)
    assert {"id", "task_id"} <= entry["dataset"].keys()
    assert isinstance(entry["value"], float)
    assert all(isinstance(entry[name], str) for name in ("date", "notes"))
    assert "url" in entry.get("source", {"url": ""})
    datetime.fromisoformat(entry["date"])
    if util.find_spec("huggingface_hub"):
        (parsed,) = import_module("huggingface_hub").parse_eval_result_entries(entries)
        assert (parsed.dataset_id, parsed.task_id, parsed.value) == (*entry["dataset"].values(), entry["value"])
        assert (parsed.notes, parsed.date) == (entry["notes"], entry["date"])
    return dict(entry)


def changed(folder: RunFolder, change: Any) -> RunFolder:
    records = [change(record) for record in read_lines(folder.results_path)]
    folder.results_path.write_bytes(b"".join(encode_line(record) for record in records if record))
    return folder


def test_there_is_a_file_for_each_model_and_setting(tmp_path: Path) -> None:
    run, out = tmp_path / "run", tmp_path / "out"
    api.run("quickstart", models=["scripted/expert", "scripted/flawed"], graphs=1, out=run)
    link = "https://example.org/run.zip"
    done = graphwalk("export", "eval-results", run, "--out", out, "--dataset", DATASET, "--source", link)
    assert done.returncode == 0, done.stderr
    paths = sorted(out.rglob("*.yaml"))
    names = ["scripted--expert", "scripted--flawed"]
    assert paths == [out / name / ".eval_results" / "quickstart_tools.yaml" for name in names]
    shown = [f"{name.replace('--', '/')} tools  {path}" for name, path in zip(names, paths, strict=True)]
    assert done.stdout.splitlines() == shown
    rows = {row["model"]: row for row in report_of(RunFolder.open(run)).rows}
    verified = graphwalk("verify", run).stderr
    tasks = json.loads((run / "run.json").read_text(encoding="utf-8"))["fingerprint"]["tasks"]
    for path in paths:
        entry = entry_of(path)
        row = rows[path.parts[-3].replace("--", "/")]
        assert entry["value"] == round(row["accuracy"], 2)
        assert entry["dataset"] == {"id": DATASET, "task_id": "tools"}
        assert entry["source"]["url"] == link
        setup, *facts = entry["notes"].split("; ")
        assert setup == "With tools"
        assert facts[0] == f"setting tools, accuracy in % of {row['scored']} answers"
        assert facts[2:4] == [f"GraphWalk {api.__version__}", "Protocol: graphwalk"]
        assert f"tasks sha256 {tasks['sha256']}" in facts
        digest = facts[-1].removeprefix("results sha256 ").removesuffix(" (graphwalk verify)")
        assert f"results sha256 {digest}" in verified


def test_reading_is_another_result_than_walking(tmp_path: Path) -> None:
    folder = changed(
        copied("questions", tmp_path / "run"),
        lambda record: {**record, "setting": "no_tools:plain"} if "expert" in record["model"] else record,
    )
    files = [path for _, path in export_eval_results(folder, tmp_path / "out", DATASET)]
    reading, walking = (entry_of(path) for path in files if path)
    assert reading["notes"].startswith("setting no_tools:plain, ")
    assert walking["notes"].startswith("With tools; setting tools, accuracy in % of 6 answers; ")
    assert reading["dataset"]["task_id"] == "no_tools-plain"


def test_names_of_models_stay_in_the_folder(tmp_path: Path) -> None:
    files = list(export_eval_results(hostile_run(tmp_path / "run"), tmp_path / "out", DATASET))
    assert MODEL in [row["model"] for row, _ in files]
    for _, path in files:
        assert path is not None
        assert path.parents[2] == tmp_path / "out"
        entry_of(path)


def test_the_digest_is_of_results_not_of_files(tmp_path: Path) -> None:
    folder = copied("questions", tmp_path / "run")
    before = folder.results_digest()
    records = list(folder.records())
    lines = sorted(
        json.dumps(
            [*(r[n] for n in ("task_id", "model", "setting", "repeat", "exit_status", "answer", "score"))],
            sort_keys=True,
        )
        for r in records
    )
    assert before == hashlib.sha256("\n".join(lines).encode()).hexdigest()
    folder.compress_results()
    assert folder.results_digest() == before
    folder = copied("questions", tmp_path / "other")
    changed(folder, lambda record: {**record, "answer": []})
    assert folder.results_digest() != before


def test_wrong_input_is_named(tmp_path: Path) -> None:
    folder, out = copied("questions", tmp_path / "run"), tmp_path / "out"

    def export(run: RunFolder = folder, dataset: str = DATASET, **how: Any) -> None:
        list(export_eval_results(run, out, dataset, **how))

    for name in ("graphs", "https://huggingface.co/datasets/a/b", "a/b/c", "../b", ""):
        with pytest.raises(ConfigError, match="is not the name of a data set on the hub"):
            export(dataset=name)
    with pytest.raises(ConfigError, match="'example' is not a link"):
        export(source="example")
    unscored = changed(
        copied("questions", tmp_path / "none"), lambda r: {**r, "score": None, "exit_status": "model_error"}
    )
    with pytest.raises(ConfigError, match="no answer has a score"):
        export(unscored)
    part = copied("questions", tmp_path / "part")
    with pytest.raises(RunLogError, match=r"part: NOT FINISHED: 6 of 12 planned episodes") as refused:
        export(changed(part, lambda record: record if "expert" in record["model"] else None))
    assert refused.value.hint == f"graphwalk resume {part.path}"
    assert not out.exists()
    assert graphwalk("export", "eval-results", RUNS / "mazes", "--out", out).returncode == 2


def test_models_without_a_score_are_left_out(tmp_path: Path) -> None:
    failed = {"score": None, "exit_status": "model_error"}
    folder = changed(copied("questions", tmp_path / "run"), lambda r: {**r, **failed} if "flawed" in r["model"] else r)
    done = graphwalk("export", "eval-results", folder.path, "--out", tmp_path / "out", "--dataset", DATASET)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1] == "scripted/flawed tools  left out: no answer has a score"
    assert len(list((tmp_path / "out").rglob("*.yaml"))) == 1
