"""Questions: evidence, causes of wrong answers, scenes and report (docs/method.md, Scores)."""

from collections.abc import Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from graphwalk.analysis.evidence import Evidence, shows_data, tool_evidence, wasted_calls
from graphwalk.analysis.report import columns
from graphwalk.analysis.report.measures import (
    EFFORT,
    OUTCOME,
    QUALITY,
    TARGET_SIZE,
    WASTE,
    cause_measures,
    score_field,
)
from graphwalk.analysis.report.plots import Plot, against_size, by_group
from graphwalk.analysis.report.suite_report import (
    ACCURACY,
    CHANCE,
    PROVEN,
    REFERENCE,
    SIZE,
    Grouping,
    Measure,
    Reference,
    SuiteReport,
    baseline_result,
    expert_result,
    if_scored,
    report_file,
    short_answer,
)
from graphwalk.analysis.report.text_table import Column, integer, one_decimal, short, two_decimals
from graphwalk.analysis.scene import Fate, Scene, StateTable, marked_items, trajectory_of, walked_scene
from graphwalk.analysis.suite_analysis import Explanation, SuiteAnalysis, proven_by
from graphwalk.config.agent import AgentConfig
from graphwalk.errors import counted
from graphwalk.graphs.values import Row
from graphwalk.models.trajectory import Trajectory
from graphwalk.runs.record import ResultRecord
from graphwalk.suites.extraction import strip_thinking
from graphwalk.suites.graph_prompts import QUERY_TOOLS
from graphwalk.suites.loaded_graph import LoadedGraph
from graphwalk.suites.questions.catalogue import CATEGORIES, has_plan, python_part, shipped_kinds
from graphwalk.suites.questions.proof import Proof, RowTuple
from graphwalk.suites.questions.scripted import EXPERT
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.reference import ReferenceWalk, expert_walk
from graphwalk.suites.rows import missing_fields, row_set, typed_rows
from graphwalk.tools.relationship_rows import is_key

if TYPE_CHECKING:
    from graphwalk.analysis.report.report import Report

_STRICT_ACCURACY = Column(
    "Strict\naccuracy %",
    "strict_accuracy",
    two_decimals,
    one_decimal,
    legend="share of answers that are correct and not forced by a limit",
)
_KEYS_RIGHT = Column(
    "Keys\ncorrect", "keys_right", integer, legend="answers with the right source and target of every relationship"
)
_ALL_PROPERTIES_RIGHT = Column(
    "All properties\ncorrect", "all_properties_right", integer, legend="answers whose properties are right too"
)
_ANSWER_ROWS = Column("Target\nrows", "answer_rows", short, legend="median number of rows of the target")
_TIED = Column(
    "Tied", "tied", integer, legend="questions with several tied rows, of which the paper's query returns one"
)
_ANY_TIED_ACCURACY = Column(
    "Any tied\nrow %",
    "any_tied_accuracy",
    two_decimals,
    one_decimal,
    legend="accuracy if any of the tied rows is correct",
)
_WRONG_FORM = Column(
    "Wrong form", "wrong_form", integer, legend='"last mile": the reply names the target, but not in the requested form'
)
_WRONG_START = Column("Wrong start", "wrong_start", integer, legend="no call finds the start node of the question")
_NO_ANSWER = Column("No answer", "no_answer", integer, legend="nothing or an empty list was answered")
_UNREADABLE = Column("Unreadable", "unreadable", integer, legend="the reply contains no readable answer")
_INVENTED = Column("Invented", "invented", integer, legend="a value of the answer is in no tool result")
_MISREAD = Column("Misread", "misread", integer, legend="tool results prove the target, the answer differs")
_EXTRA_ROWS = Column("Extra rows", "extra_rows", integer, legend="rows that are not in the target")
_MISSING_ROWS = Column("Missing rows", "missing_rows", integer, legend="target rows are missing")
_GROUPS = (
    columns.CORRECT,
    columns.SCORED,
    columns.ACCURACY,
    columns.PROVEN_ACCURACY,
    columns.F1,
    columns.CALLS_PER_QUESTION,
    columns.TOKENS_PER_QUESTION,
    columns.TASKS,
    columns.INFRASTRUCTURE_FAILURES,
)
_PAPER_RESULTS = (
    columns.CORRECT,
    columns.SCORED,
    columns.ACCURACY,
    columns.PROVEN_ACCURACY,
    columns.CONTEXT_OVERFLOWS,
    columns.F1,
    columns.FALSE_POSITIVES,
    columns.TOOL_CALLS,
    columns.PRECISION,
    columns.RECALL,
    _TIED,
    _ANY_TIED_ACCURACY,
    columns.TASKS,
    columns.TOKENS,
    columns.COST,
    columns.INFRASTRUCTURE_FAILURES,
    _KEYS_RIGHT,
    _ALL_PROPERTIES_RIGHT,
    _STRICT_ACCURACY,
    _ANSWER_ROWS,
    columns.SECONDS_PER_QUESTION,
    columns.GRAPHS,
)
_PAPER_GROUPS = (
    columns.CORRECT,
    columns.SCORED,
    columns.ACCURACY,
    columns.PROVEN_ACCURACY,
    _TIED,
    _ANY_TIED_ACCURACY,
    columns.PRECISION,
    columns.RECALL,
    columns.F1,
    columns.FALSE_POSITIVES,
    columns.TASKS,
    columns.CALLS_PER_QUESTION,
    _ANSWER_ROWS,
    _KEYS_RIGHT,
    _ALL_PROPERTIES_RIGHT,
    columns.INFRASTRUCTURE_FAILURES,
    columns.GRAPHS,
)
_CAUSES = (
    _WRONG_FORM,
    _WRONG_START,
    _NO_ANSWER,
    _UNREADABLE,
    _INVENTED,
    _MISREAD,
    _EXTRA_ROWS,
    _MISSING_ROWS,
)
_NOTE_ON_BASELINES = (
    "Baselines: chance is the expected score of one valid row drawn at random (for a count: any number up to the nodes"
    " or relationships of the graph); best constant answer is, for each kind of question, the one answer that is right"
    " for most of these targets, which it has seen (of several the first by its text; unknown with fewer than five"
    " tasks of a kind); expert (reference) is the scripted expert with the whole schema and the page size of this run,"
    " without the other limits of its agent."
)


def _tied(result: ResultRecord) -> float | None:
    """Return 1 for one of several tied rows; None for a target that is not the paper's, without key fields."""
    task = result["task"]
    if not task.get("key_fields"):
        return None
    return float(bool(task.get("rows_left_out")))


def _any_tied_correct(result: ResultRecord) -> float | None:
    score = result["score"]
    tied = _tied(result)
    if tied is None:
        return None
    correct = score.get("any_tied_correct") if tied else score["correct"]
    return None if correct is None else float(correct)


def remark(result: ResultRecord) -> str | None:
    """Return a note on a question with one oracle, on the paper's query, or on questions that were skipped."""
    task = result["task"]
    if task.get("rows_left_out"):
        return (
            f"{task['template']}: the paper's query returns one of several tied rows, and only this one is correct."
            f" The accuracy of {REFERENCE}, which names one of them at random, is the most that can be expected."
        )
    if task.get("oracles", 2) == 1:
        return f"{task['template']} has one oracle: its targets come from its Cypher, without an independent check."

    graph = result.get("graph", {})
    left_out = graph.get("left_out")
    if not left_out:
        return None
    # Generated graphs have no names, and may be many.
    which = f"{graph['name']} is" if "name" in graph else "Some graphs are"
    return f"{which} not asked: {', '.join(left_out)} (see run.json for the reasons)."


def question_plots(report: "Report") -> Iterator[Plot]:
    """Yield the plots of questions; accuracy by graph size is the paper's Figure 3."""
    yield by_group(report, "category", "Accuracy by category")
    yield by_group(report, "question", "Accuracy by kind of question")
    reference = (REFERENCE,) if any(row.figures.get("tied") for row in report.rows) else ()
    yield against_size(report, "nodes of the graph", reference)


ErrorClass = Literal[
    "wrong_form", "wrong_start", "no_answer", "unreadable", "invented", "misread", "extra_rows", "missing_rows"
]
_MOST_CHECKED = 10_000
"""Rows of an answer that are checked for groundedness."""
_MOST_ROWS = 2_000
"""Rows of answer and target in the picture."""


class QuestionExplanation(Explanation):
    """`grounded`: share of the first 10,000 rows that are supported. `error_class`: why an answer is wrong."""

    error_class: ErrorClass | None = None
    repeated_calls: int = 0
    tool_errors: int = 0


class QuestionsAnalysis(SuiteAnalysis[QuestionTask]):
    """The explanations of questions on property graphs."""

    explanation_type = QuestionExplanation
    expert = EXPERT

    def report(self) -> SuiteReport:
        """Return the report of questions, with groups in the order of the built-in questions."""
        return SuiteReport(
            suite=self.suite.name,
            measures=(
                *OUTCOME,
                *TARGET_SIZE,
                Measure("strict_correct", "count", score_field("strict_correct")),
                Measure("strict_accuracy", "percent", score_field("strict_correct")),
                Measure("keys_right", "count", score_field("keys_correct")),
                Measure("all_properties_right", "count", score_field("all_properties_correct")),
                Measure("all_properties_accuracy", "percent", score_field("all_properties_correct")),
                Measure("tied", "count", if_scored(_tied)),
                Measure("any_tied_accuracy", "percent", if_scored(_any_tied_correct)),
                *QUALITY,
                *cause_measures(self.own_fields),
                *WASTE,
                *EFFORT,
            ),
            columns=columns.PLAIN_COLUMNS,
            group_columns=_GROUPS,
            paper_columns=_PAPER_RESULTS,
            paper_group_columns=_PAPER_GROUPS,
            causes=_CAUSES,
            contestant_tables={"Wasted calls": columns.WASTE},
            compared=(ACCURACY, "f1", PROVEN),
            notes=(_NOTE_ON_BASELINES,),
            groupings=(
                Grouping("category", "category", lambda result: result["task"].get("category"), CATEGORIES),
                Grouping("question", "question", lambda result: result["task"]["template"], tuple(shipped_kinds())),
                Grouping("graph", "graph", lambda result: result.get("graph", {}).get("name")),
                Grouping(SIZE, "graph size", lambda result: result.get("graph", {}).get("nodes")),
            ),
            references={
                "table_2_questions": tables_2_and_3,
                "table_3_correct_of_10_by_question": tables_2_and_3,
                "table_4_graph_size": table_4,
            },
            baselines=baselines,
            right_answers=right_answers,
            remark=remark,
            plots=question_plots,
        )

    def explain(
        self, task: QuestionTask, setting: str, trajectory: Trajectory, answer: Any, score: dict[str, Any]
    ) -> QuestionExplanation:
        rows = typed_rows(answer or [], task.target, task.scored_fields)[:_MOST_CHECKED]
        proof = None
        supported = None
        if setting == "tools":  # columns of a model's own query may contain anything, so their evidence is unknown
            proof = Proof(task, trajectory.prompt, trajectory.results_read)
            supported = proof.supported([*rows, *task.target])

        grounded = None
        if rows and supported is not None:
            grounded = sum(row_set([row], task.scored_fields) <= supported for row in rows) / len(rows)
        error_class = None
        if not score["correct"]:
            error_class = why_wrong(task, trajectory, None if answer is None else rows, supported)
        unproven = None
        if proof is not None and score["correct"]:
            unproven = proof.unproven_because(rows)
        repeated_calls, tool_errors = wasted_calls(trajectory)
        return QuestionExplanation(
            grounded=grounded,
            proven=proven_by(setting, score, unproven),
            unproven=unproven or "",
            error_class=error_class,
            repeated_calls=repeated_calls,
            tool_errors=tool_errors,
        )

    def potential(self, task: QuestionTask, trajectory: Trajectory) -> float | None:
        """Return the share of the target's rows that the results prove; None without an evaluator.

        It is None, too, after a query of the model, whose results may contain anything.
        """
        queried = any(shows_data(result) and result.call.name in QUERY_TOOLS for result in trajectory.results)
        target = row_set(task.target, task.scored_fields)
        if task.oracles == 1 or python_part(task.template) is None or not target or queried:
            return None
        proof = Proof(task, trajectory.prompt, trajectory.results)
        proven = proof.supported(task.target) or frozenset()
        return len(proven) / len(target) if task.mode == "set" else float(bool(proven))

    def scene(self, task: QuestionTask, record: ResultRecord) -> Scene:
        """Return the scene of an episode; rows are compared by their scored fields."""
        rows = [row for row in record["answer"] or () if isinstance(row, dict)]
        answer_rows = typed_rows(rows[:_MOST_ROWS], task.target, task.scored_fields)
        marked = list(marked_items(answer_rows, task.target, lambda row: row_set([row], task.scored_fields)))
        marked = marked[:_MOST_ROWS]
        is_one_enough = task.mode != "set"
        if is_one_enough and any(fate == "right" for fate, _ in marked):
            marked = [(fate, row) for fate, row in marked if fate != "missed"]

        note = ""
        if is_one_enough and len(task.target) > 1:
            note = f"Any one of {counted(len(task.target), 'row')} is correct."
        cells = []
        for fate, row in marked:
            cells.append((fate, *(row.get(field) for field in task.answer_fields)))
        table = StateTable(task.answer_fields, tuple(cells), note)
        return walked_scene(
            record, trajectory_of(record), _question_values(task), _answered_values(task, marked), table
        )

    async def reference(self, task: QuestionTask, about: LoadedGraph, agent: AgentConfig) -> ReferenceWalk | None:
        if not has_plan(task.template) or about.store is None or not about.store.in_process:
            return None
        return await expert_walk(EXPERT, task, about, agent)


def _question_values(task: QuestionTask) -> set[str]:
    """Return the values of nodes that a question names."""
    # Nodes may have the name of a label, a type or a property as a value, too. It is not looked for.
    values = set()
    names = set()
    for name, value in task.parameters.items():
        if name.endswith(("label", "type", "property", "hops")):
            names.add(str(value))
        else:
            values.add(str(value))
    return values - names


def _answered_values(task: QuestionTask, marked: Sequence[tuple[Fate, Row]]) -> dict[str, Fate]:
    """Return the values of nodes in the rows of answer and target, with the fate of the first row of each."""
    # A count is the value of no node.
    fields = [field for field in task.answer_fields if field not in task.computed_fields]
    fates: dict[str, Fate] = {}
    for fate, row in reversed(marked):
        for field in fields:
            value = row.get(field)
            if isinstance(value, str | int):
                fates[str(value)] = fate
    return fates


def why_wrong(
    task: QuestionTask, trajectory: Trajectory, rows: Sequence[Row] | None, proven: frozenset[RowTuple] | None
) -> ErrorClass:
    """Return the first cause that fits a wrong answer (docs/method.md, Causes of wrong answers).

    `rows` is None for a reply without a readable answer; `proven` are the rows of answer and target that the tool
    results prove, None if that is unknown.
    """
    target = row_set(task.target, task.scored_fields)
    answered = row_set(rows or (), task.scored_fields)
    is_target_proven = False
    if proven is not None:
        is_target_proven = target <= proven if task.mode == "set" else bool(target & proven)

    reply = strip_thinking(trajectory.reply)
    has_form = rows and not missing_fields(rows, task.scored_fields)
    if not has_form and (is_target_proven or proven is None) and names_target(task, reply):
        return "wrong_form"
    if not start_found(task, trajectory):
        return "wrong_start"
    if not rows:
        return "unreadable" if rows is None and reply.strip() else "no_answer"
    if proven is not None and not answered <= proven and _has_invented(task, trajectory, rows):
        return "invented"
    if is_target_proven:
        return "misread"
    return "extra_rows" if answered - target else "missing_rows"


def _has_invented(task: QuestionTask, trajectory: Trajectory, rows: Sequence[Row]) -> bool:
    """Return True if a value of an answer, other than a count, is in no tool result."""
    evidence = tool_evidence(trajectory)
    for row in rows:
        for field in task.scored_fields:
            value = row.get(field)
            if field not in task.computed_fields and value is not None and not evidence.holds(value):
                return True
    return False


def names_target(task: QuestionTask, text: str) -> bool:
    """Return True if a text contains the values of every row of the target, or of one if one is enough."""
    evidence = Evidence([text])

    def is_named(row: Row) -> bool:
        values = [row[field] for field in task.scored_fields if row.get(field) is not None]
        return bool(values) and all(evidence.holds(value) for value in values)

    if task.mode == "set":
        return all(is_named(row) for row in task.target)
    return any(is_named(row) for row in task.target)


def start_found(task: QuestionTask, trajectory: Trajectory) -> bool:
    """Return False if no accepted call names a start node of the question, and no result shows it."""
    calls = [result for result in trajectory.results if not result.is_note and not result.final]
    if not calls:
        return True
    texts = []
    for result in calls:
        if result.error is None:
            texts += [result.call.arguments, result.content]
    evidence = Evidence(texts)
    return all(evidence.holds(value) for name, value in task.parameters.items() if is_key(name))


def table_4() -> Reference:
    """Return the paper's figures by graph size."""
    paper = report_file("graphwalk-paper")
    sizes = tuple(paper["table_4_graph_size"])
    return Reference(f"{paper['source']}, Table 4", tuple(paper["notes"]), groups={SIZE: sizes})


def tables_2_and_3() -> Reference:
    """Return the paper's figures overall, by category and by kind of question."""
    paper = report_file("graphwalk-paper")
    table_3 = pl.DataFrame(paper["table_3_correct_of_10_by_question"])
    contestants = ["model", "setting"]
    by_question = table_3.unpivot(index=contestants, variable_name="question", value_name="correct")
    by_question = by_question.with_columns(scored=pl.lit(10))
    category = pl.col("question").replace_strict({name: kind.category for name, kind in shipped_kinds().items()})
    grouped = by_question.group_by(category.alias("category"), *contestants, maintain_order=True)
    by_category = grouped.agg(pl.col("correct", "scored").sum())
    accuracy = (100 * pl.col("correct") / pl.col("scored")).round(2)
    groups = {
        "category": tuple(by_category.with_columns(accuracy=accuracy).to_dicts()),
        "question": tuple(by_question.with_columns(accuracy=accuracy).to_dicts()),
    }
    overall = tuple(paper["table_2_questions"])
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
        is_one_enough = task.get("mode", "set") != "set"
        chance = _random_row(target / rows, 1 if is_one_enough else target, ties)
        yield baseline_result(result, CHANCE, chance)
    expert = _random_row(1 / ties, 1, ties) if ties > 1 else dict(_ALL_RIGHT)
    yield from expert_result(result, expert)


def right_answers(result: ResultRecord) -> list[str]:
    """Return the target of a question, or each of its rows if one is enough, as texts."""
    task = result["task"]
    rows = sorted(repr(row) for row in row_set(task.get("gold", ()), task.get("scored_fields", ())))
    if not rows:
        return []
    if task.get("mode", "set") == "set":
        return [short_answer(repr(rows))]
    return [short_answer(row) for row in rows]


def valid_rows(result: ResultRecord) -> int | None:
    """Return the number of rows with the requested form, or None if it is unknown."""
    task = result["task"]
    if task.get("candidates"):
        return int(task["candidates"])
    kind = shipped_kinds().get(task["template"])
    if kind is None:
        return None
    # ("relationships",) for a count of relationships, which is any number up to that of the graph
    graph = result.get("graph", {})
    sizes = [graph.get(size) for size in kind.chance]
    return prod(sizes) if sizes and all(sizes) else None


def _random_row(hit: float, needed_rows: int, ties: int) -> dict[str, Any]:
    """Return the expected score of one row that is correct with probability `hit`, like each of the `ties`."""
    right = hit if needed_rows == 1 else 0.0
    return {
        "correct": right,
        "strict_correct": right,
        "any_tied_correct": right * ties,
        "precision": hit,
        "recall": hit / needed_rows,
        "f1": hit * 2 / (1 + needed_rows),
        "false_positives": 1 - hit,
    }


_ALL_RIGHT = {
    "correct": True,
    "strict_correct": True,
    "precision": 1.0,
    "recall": 1.0,
    "f1": 1.0,
    "false_positives": 0,
}
