"""From a run folder to its report."""

from graphwalk.report.report import Report, build_report
from graphwalk.runlog.run_folder import RunFolder


def report_of(folder: RunFolder) -> Report:
    """The report of a run, finished or not."""
    config = folder.read_manifest()["config"]
    return build_report(
        folder.records(), config["suite"]["name"], reference=config.get("reference"), seed=config.get("seed", 0)
    )
