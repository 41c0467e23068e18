"""From a run folder to its report."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from graphwalk.report.declared import Report
from graphwalk.report.report import build_report
from graphwalk.runlog.run_folder import RunFolder
from graphwalk.suites.registry import suite_named


def report_of(folder: RunFolder) -> Report:
    """The report of a run, finished or not."""
    manifest = folder.read_manifest()
    config = manifest["config"]
    declared = suite_named(config["suite"]["name"]).report()
    reference = declared.reference(config["reference"]) if config.get("reference") else None
    report = build_report(folder.records(), declared, reference=reference, seed=config.get("seed", 0))
    return replace(report, notes=(*report.notes, *_without_stage_2(manifest)))


def _without_stage_2(manifest: Mapping[str, Any]) -> Iterator[str]:
    named, settled = manifest["config"].get("extractor"), manifest.get("fingerprint") or {}
    if named and settled.get("stage_2", named) is None:
        yield f"Played without the extractor {named['model']}: replies that stage 1 cannot read whole count as read."
