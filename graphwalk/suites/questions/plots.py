"""What is plotted of a run of questions, and what is drawn of an episode."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from graphwalk.evaluation.rows import row_set, typed_rows
from graphwalk.reports.common_plots import (
    against_size,
    by_answer_size,
    by_group,
    effort_plots,
    failure_classes,
    is_wide,
)
from graphwalk.reports.observations import Observations
from graphwalk.reports.plots import Fate, Panel, Plot, Point, Scene, Series, StateTable
from graphwalk.reports.suite_report import Report, ResultRecord
from graphwalk.suites.questions.score import ERROR_CLASSES
from graphwalk.suites.walked import walked_scene
from graphwalk.types.episode import Trajectory
from graphwalk.types.values import Row
from graphwalk.types.wire import from_dict

_MOST_ROWS = 2_000
"""Rows of an answer that are laid out beside the target."""


def question_figures(report: Report, observed: Observations) -> Iterator[Plot]:
    """Against graph size it is the paper's Figure 3."""
    yield by_group(report, "category", "Accuracy by category")
    yield by_group(report, "question", "Accuracy by kind of question")
    yield against_size(report, "nodes", "Accuracy by size of the graph", "nodes of the graph")
    yield walked_against_text(report)
    yield by_answer_size(observed)
    yield failure_classes(report, {name: name.replace("_", " ") for name in ERROR_CLASSES})
    yield from effort_plots(report, observed)


def walked_against_text(report: Report) -> Plot:
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


def question_scene(record: ResultRecord) -> Scene:
    """Any rows are compared by the fields that are scored."""
    task = record["task"]
    rows = [row for row in record["answer"] or () if isinstance(row, dict)][:_MOST_ROWS]
    given = typed_rows(rows, task["gold"], task["scored_fields"])
    marked = list(_marked(given, task["gold"], task["scored_fields"]))
    asked = {str(value) for value in task["parameters"].values()} - set(_labels(task))
    answered = {str(v): fate for fate, row in reversed(marked) for v in row.values() if isinstance(v, str | int)}
    return walked_scene(from_dict(Trajectory, record["trajectory"]), asked, answered, _table(task, marked))


def _marked(given: Sequence[Row], gold: Sequence[Row], fields: Sequence[str]) -> Iterator[tuple[Fate, Row]]:
    """Every row of the answer, then those of the target that are not in it."""
    target, named = row_set(gold, fields), row_set(given, fields)
    for row in given:
        yield ("right" if row_set([row], fields) <= target else "wrong"), row
    for row in gold[:_MOST_ROWS]:
        if not row_set([row], fields) <= named:
            yield "missed", row


def _table(task: Mapping[str, Any], marked: Sequence[tuple[Fate, Row]]) -> StateTable:
    fields = tuple(task["answer_fields"])
    one = task["mode"] != "set"
    note = "One of the target's rows is enough." if one and len(task["gold"]) > 1 else ""
    return StateTable(fields, tuple((fate, *(row.get(field) for field in fields)) for fate, row in marked), note)


def _labels(task: Mapping[str, Any]) -> Iterator[str]:
    """Names of labels, types and properties, which nodes may have as a value too."""
    for name, value in task["parameters"].items():
        if name.endswith(("label", "type", "property", "hops")):
            yield str(value)
