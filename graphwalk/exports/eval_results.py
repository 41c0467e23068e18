"""Results as the Hugging Face hub reads them from repositories of models (https://huggingface.co/docs/hub/eval-results)."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import yaml

from graphwalk.errors import ConfigError, RunLogError, counted
from graphwalk.experiments.protocol_differences import protocol_note
from graphwalk.files.writing import new_folder, write_whole
from graphwalk.reports.suite_report import ReportRow
from graphwalk.runs.finished.reporting import report_of
from graphwalk.runs.folder.run_folder import RunFolder
from graphwalk.types.episode import setting_of


def export_eval_results(
    folder: RunFolder, out: Path, dataset: str, source: str | None = None
) -> Iterator[tuple[ReportRow, Path | None]]:
    """Write MODEL/.eval_results/NAME_SETTING.yaml into a new folder; yield each report row with its file.

    A row without a scored answer has none. `dataset` has the tasks on the hub, `source` is a link to the run. Raise
    ConfigError if they are wrong or nothing is scored, RunLogError for an unfinished run.
    """
    if not re.fullmatch(r"\w[\w.-]*/\w[\w.-]*", dataset, re.ASCII):
        raise ConfigError(f"{dataset!r} is not the name of a data set on the hub", hint="--dataset ORGANISATION/NAME")
    if source is not None and not re.fullmatch(r"https?://[^\s/]\S*", source):
        raise ConfigError(f"{source!r} is not a link", hint="--source https://…")
    report, manifest, run = report_of(folder), folder.read_manifest(), folder.archive or folder.path
    if report.incomplete:
        raise RunLogError(f"{run}: {report.incomplete}", hint=folder.resume_command)
    if all(row.get("accuracy") is None for row in report.rows):
        raise ConfigError(f"{run}: no answer has a score", hint=f"graphwalk report {folder.quoted}")
    shared = (
        f"GraphWalk {manifest['graphwalk_version']}",
        protocol_note(manifest["config"]).rstrip("."),
        f"tasks sha256 {manifest['fingerprint']['tasks']['sha256']}",
        f"results sha256 {folder.results_digest()} (graphwalk verify)",
    )
    root = new_folder(out)
    for row in report.rows:
        path, setting = None, row["setting"]
        if row.get("accuracy") is not None:
            entry = {
                "dataset": {"id": dataset, "task_id": setting.replace(":", "-")},
                "value": round(row["accuracy"], 2),
                "date": manifest["created"],
                **({"source": {"url": source, "name": f"GraphWalk run {manifest['run_id']}"}} if source else {}),
                "notes": "; ".join([*_notes(row), *shared]),
            }
            names = (row["model"], f"{manifest['name']}_{setting}")
            model, name = (quote(part.replace(":", "-"), safe="").replace("%2F", "--") for part in names)
            path = root / model / ".eval_results" / f"{name}.yaml"
            write_whole(path, [yaml.safe_dump([entry], sort_keys=False, width=10_000)], parents=True)
        yield row, path


def _notes(row: ReportRow) -> Iterator[str]:
    """Yield setting and numbers of a result. By convention of the hub, notes begin with "With tools"."""
    if setting_of(row["setting"]) in ("tools", "write_cypher"):
        yield "With tools"
    yield f"setting {row['setting']}, accuracy in % of {counted(row['scored'], 'answer')}"
    if ends := row["intervals"].get("accuracy"):
        yield f"95 % interval {ends[0]:.1f} to {ends[1]:.1f} over {counted(row['graphs'], 'graph')}"
    if failed := row.get("infrastructure_failures"):
        yield f"{counted(failed, 'episode')} failed without a score"
