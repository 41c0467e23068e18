"""What is plotted of a run of questions."""

from collections.abc import Iterator
from dataclasses import replace

from graphwalk.report.declared import Report
from graphwalk.report.figures import Figure, Panel, Point, Series
from graphwalk.report.observations import Observations
from graphwalk.report.plots import against_size, by_answer_size, by_group, effort_figures, failure_classes, is_wide
from graphwalk.suites.questions.scoring import ERROR_CLASSES


def question_figures(report: Report, observed: Observations) -> Iterator[Figure]:
    """Against graph size it is the paper's Figure 3."""
    yield by_group(report, "category", "Accuracy by category")
    yield by_group(report, "question", "Accuracy by kind of question")
    yield against_size(report, "nodes", "Accuracy by size of the graph", "nodes of the graph")
    yield walked_against_text(report)
    yield by_answer_size(observed)
    yield failure_classes(report, {name: name.replace("_", " ") for name in ERROR_CLASSES})
    yield from effort_figures(report, observed)


def walked_against_text(report: Report) -> Figure:
    """Tokens that a question takes on graphs of each size, beside those of the whole graph as text, where known."""
    walks = against_size(
        report,
        "nodes",
        "Tokens walked, and tokens of the whole graph",
        "nodes of the graph",
        measure="tokens_per_question",
        y="tokens per question",
        percent=False,
        baselines=("par",),
    )
    texts = {
        float(row["nodes"]): row["text_tokens"] for row in report.groups.get("nodes", ()) if row.get("text_tokens")
    }
    whole = Series("whole graph as text (JSON)", tuple(Point(nodes, tokens) for nodes, tokens in sorted(texts.items())))
    walked = [one for one in walks.panels[0].series if any(point.y > 0 for point in one.points)]
    panel = Panel((whole, *walked) if texts else ())
    about = f"{walks.about} A walk sends all of its turns again with each call; the whole graph is read once."
    return replace(walks, name="tokens-against-whole-graph", panels=(panel,), about=about, logarithmic=is_wide(texts))
