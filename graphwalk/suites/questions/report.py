"""Report of questions: measures, groupings, columns, plots and scenes."""

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

from graphwalk.reports.common_plots import against_size, by_group
from graphwalk.reports.measures import declared_report, if_scored
from graphwalk.reports.plots import Plot
from graphwalk.reports.report import Report
from graphwalk.reports.suite_report import CHANCE, REFERENCE, Grouping, Reader, Reference, ResultRecord, SuiteReport
from graphwalk.suites.questions.catalogue import shipped_kinds
from graphwalk.suites.questions.scoring.score import QuestionScore
from graphwalk.suites.questions.template import CATEGORIES
from graphwalk.suites.reference import baseline_result, expert_result, paper_figures


def _with_paper_target(read: Reader) -> Reader:
    """Return a reader of results with the paper's target; None for others, whose tasks have no key fields."""
    return if_scored(lambda result: read(result) if result["task"].get("key_fields") else None)


def _any_tied(result: ResultRecord) -> float | None:
    score = result["score"]
    correct = score.get("any_tied_correct") if result["task"].get("rows_left_out") else score["correct"]
    return None if correct is None else float(correct)


READERS: Mapping[str, Reader] = {
    "tied": _with_paper_target(lambda result: float(bool(result["task"].get("rows_left_out")))),
    "any_tied_accuracy": _with_paper_target(_any_tied),
}


def remark(result: ResultRecord) -> str | None:
    """Return a note on a question with one oracle, on the paper's query, or on questions that were skipped."""
    task, graph = result["task"], result.get("graph", {})
    if task.get("rows_left_out"):
        return (
            f"{task['template']}: the paper's query returns one of several tied rows, and only this one is correct."
            f" The accuracy of {REFERENCE}, which names one of them at random, is the most that can be expected."
        )
    if task.get("oracles", 2) == 2:
        left_out = graph.get("left_out")
        # Generated graphs have no names, and may be many.
        which = f"{graph['name']} is" if "name" in graph else "Some graphs are"
        return f"{which} not asked: {', '.join(left_out)} (see run.json for the reasons)." if left_out else None
    return f"{task['template']} has one oracle: its targets come from its Cypher, without an independent check."


def question_plots(report: Report) -> Iterator[Plot]:
    """Yield the plots of questions; accuracy by graph size is the paper's Figure 3."""
    yield by_group(report, "category", "Accuracy by category")
    yield by_group(report, "question", "Accuracy by kind of question")
    reference = (REFERENCE,) if any(row["tied"] for row in report.rows) else ()
    yield against_size(report, "nodes", "Accuracy by size of the graph", "nodes of the graph", baselines=reference)


def question_report() -> SuiteReport:
    """Return the report of questions, with groups in the order of the built-in questions."""
    return declared_report(
        "questions",
        QuestionScore,
        READERS,
        groupings=(
            Grouping("category", "category", lambda result: result["task"].get("category"), CATEGORIES),
            Grouping("question", "question", lambda result: result["task"]["template"], tuple(shipped_kinds())),
            Grouping("graph", "graph", lambda result: result.get("graph", {}).get("name")),
            Grouping("nodes", "graph size", lambda result: result.get("graph", {}).get("nodes")),
        ),
        references={
            "table_2_questions": tables_2_and_3,
            "table_3_correct_of_10_by_question": tables_2_and_3,
            "table_4_graph_size": table_4,
        },
        baselines=baselines,
        remark=remark,
        plots=question_plots,
    )


_OF_ALL, _OF_EACH = 120, 10
"""Questions per model in the paper, in total and per kind."""


def table_4() -> Reference:
    """Return the paper's figures by graph size, with the counts behind the printed percentages."""
    paper = paper_figures()
    rows = paper["table_4_graph_size"]
    counts = [{"correct": round(row["accuracy"] * _OF_ALL / 100), "scored": _OF_ALL} for row in rows]
    sizes = tuple({**row, **count} for row, count in zip(rows, counts, strict=True))
    return Reference(f"{paper['source']}, Table 4", tuple(paper["notes"]), groups={"nodes": sizes})


def tables_2_and_3() -> Reference:
    """Return the paper's figures overall, by category and by kind of question."""
    paper = paper_figures()
    table_2 = [{**row, "correct": row["correct_of_120"], "scored": _OF_ALL} for row in paper["table_2_questions"]]
    overall = tuple({name: row[name] for name in row if name != "correct_of_120"} for row in table_2)
    table = paper["table_3_correct_of_10_by_question"]
    category_of = {name: kind.template.category for name, kind in shipped_kinds().items() if name in table[0]}
    members = {category: [name for name in category_of if category_of[name] == category] for category in CATEGORIES}

    def grouped(grouping: str, groups: Mapping[Any, Sequence[str]]) -> Iterator[dict[str, Any]]:
        for group, questions in groups.items():
            number = _OF_EACH * len(questions)
            for row in table:
                correct = sum(row[question] for question in questions)
                counts = {"correct": correct, "scored": number, "accuracy": round(100 * correct / number, 2)}
                yield {"model": row["model"], "setting": row["setting"], grouping: group, **counts}

    groups = {
        "category": tuple(grouped("category", members)),
        "question": tuple(grouped("question", {name: [name] for name in category_of})),
    }
    return Reference(f"{paper['source']}, Tables 2 and 3", tuple(paper["notes"]), overall, groups)


def baselines(result: ResultRecord) -> Iterator[ResultRecord]:
    """Yield baselines that need no run: chance, and the expert.

    "chance" has the expected scores of one random valid row, the expert those of one of the tied rows.
    """
    task = result["task"]
    target = task["gold_size"]
    ties = 1 + len(task.get("rows_left_out", ()))
    rows = valid_rows(result)
    if rows:
        any_one = task.get("mode", "set") != "set"
        yield baseline_result(result, CHANCE, _random_row(target / rows, target, any_one, ties))
    yield from expert_result(result, _random_row(1 / ties, 1, True, ties) if ties > 1 else dict(_ALL_RIGHT))


def valid_rows(result: ResultRecord) -> int | None:
    """Return the number of rows with the requested form, or None if it is unknown."""
    task, graph = result["task"], result.get("graph", {})
    if task.get("candidates"):
        return int(task["candidates"])
    kind = shipped_kinds().get(task["template"])
    sizes = [graph.get(size) for size in kind.template.chance] if kind else []
    return prod(sizes) if sizes and all(sizes) else None


def _random_row(hit: float, target: int, any_one: bool, ties: int) -> dict[str, Any]:
    """Return the expected score of one row that is correct with probability `hit`, like each of the `ties`."""
    needed = 1 if any_one else target
    right = hit if needed == 1 else 0.0
    rates = {"precision": hit, "recall": hit / needed, "f1": hit * 2 / (1 + needed), "false_positives": 1 - hit}
    return {"correct": right, "strict_correct": right, "any_tied_correct": right * ties, **rates}


_ALL_RIGHT = {
    **dict.fromkeys(("correct", "strict_correct"), True),
    **dict.fromkeys(("precision", "recall", "f1"), 1.0),
    "false_positives": 0,
}
