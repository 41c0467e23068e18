"""What is plotted of a run of questions."""

from collections.abc import Iterator

from graphwalk.report.declared import Report
from graphwalk.report.figures import Figure
from graphwalk.report.observations import Observations
from graphwalk.report.plots import against_size, by_answer_size, by_group, effort_figures, failure_classes
from graphwalk.suites.questions.scoring import ERROR_CLASSES


def question_figures(report: Report, observed: Observations) -> Iterator[Figure]:
    """Against graph size it is the paper's Figure 3."""
    yield by_group(report, "category", "Accuracy by category")
    yield by_group(report, "question", "Accuracy by kind of question")
    yield against_size(report, "nodes", "Accuracy by size of the graph", "nodes of the graph")
    yield by_answer_size(observed)
    yield failure_classes(report, {name: name.replace("_", " ") for name in ERROR_CLASSES})
    yield from effort_figures(report, observed)
