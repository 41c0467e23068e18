"""What is plotted of a run in mazes: validity and calls against what was varied."""

from collections.abc import Iterator

from graphwalk.report.declared import Report
from graphwalk.report.figures import Figure
from graphwalk.report.observations import Observations
from graphwalk.report.plots import against_size, cost_against_accuracy, failure_classes, over_par, within_calls
from graphwalk.suites.mazes.task import PATH_ERRORS

_SIZES = {
    "size": "cells on a side",
    "wall_ratio": "share of walls",
    "min_path": "steps at least from start to goal",
}


def maze_figures(report: Report, observed: Observations) -> Iterator[Figure]:
    varied = [name for name in _SIZES if len({row[name] for row in report.groups.get(name, ())}) > 1]
    for grouping in varied[:1]:  # those after it were set along with it
        said = _SIZES[grouping]
        yield against_size(report, grouping, f"Valid paths by {said}", said, y="valid paths in %")
        yield against_size(
            report,
            grouping,
            f"Calls by {said}",
            said,
            "calls_per_question",
            "tool calls per maze",
            percent=False,
            baselines=("par",),
        )
    yield failure_classes(report, {name: name.replace("_", " ") for name in PATH_ERRORS}, "How paths end")
    yield within_calls(observed, "Valid paths by number of calls")
    yield over_par(report)
    yield cost_against_accuracy(report)
