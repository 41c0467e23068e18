"""From a run folder to its report."""

from graphwalk.report.declared import Report
from graphwalk.report.report import build_report
from graphwalk.runlog.run_folder import RunFolder
from graphwalk.suites.registry import suite_named


def report_of(folder: RunFolder) -> Report:
    """The report of a run, finished or not."""
    config = folder.read_manifest()["config"]
    declared = suite_named(config["suite"]["name"]).report()
    reference = declared.reference(config["reference"]) if config.get("reference") else None
    return build_report(folder.records(), declared, reference=reference, seed=config.get("seed", 0))
