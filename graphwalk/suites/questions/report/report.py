"""The report of questions: measures, break-downs and columns."""

from collections.abc import Callable

from graphwalk.report.common import EFFORT, GRAPHS, OUTCOME, ROWS, TASKS, WASTE, count_if, if_scored, scored
from graphwalk.report.declared import Column, Grouping, Measure, ResultRecord, SuiteReport
from graphwalk.report.formats import dollars, duration, integer, one_decimal, short, two_decimals
from graphwalk.suites.questions.report.baselines import baselines
from graphwalk.suites.questions.report.paper import CATEGORIES, QUESTIONS, paper_reference
from graphwalk.suites.questions.report.tables import more_tables
from graphwalk.suites.questions.scoring import EARLIER_ERROR_CLASSES, ERROR_CLASSES


def _error_class(name: str) -> Callable[[ResultRecord], float | None]:
    return count_if(lambda result: bool(result["score"]) and result["score"].get("error_class") == name)


def _per_answer(result: ResultRecord) -> float | None:
    score = result["score"]
    return float(score["false_positives"]) if score.get("answered") else None


def _without_think(result: ResultRecord) -> float | None:
    return float(result["tool_calls"] - result["score"].get("think_calls", 0))


MEASURES = (
    *OUTCOME,
    ROWS,
    Measure("strict_correct", "count", scored("strict_correct")),
    Measure("strict_accuracy", "percent", scored("strict_correct")),
    Measure("all_properties_accuracy", "percent", scored("all_properties_correct")),
    Measure("precision", "share", scored("precision")),
    Measure("recall", "share", scored("recall")),
    Measure("f1", "share", scored("f1")),
    Measure("answered", "count", scored("answered")),
    Measure("false_positives", "count", scored("false_positives")),
    Measure("false_positives_per_answered", "amount", if_scored(_per_answer)),
    Measure("grounded", "share", scored("grounded")),
    Measure("last_mile", "count", scored("last_mile")),
    *(Measure(name, "count", _error_class(name)) for name in ERROR_CLASSES),
    Measure("text_tokens", "amount", lambda result: result.get("world", {}).get("text_tokens")),
    Measure("tool_calls_without_think", "count", if_scored(_without_think)),
    *(Measure(column.field, "count", scored(column.field)) for column in WASTE),
    *EFFORT,
)

_QUALITY = (
    Column("Correct", "correct", integer),
    Column("N", "questions", integer),
    Column("Accuracy %", "accuracy", two_decimals, interval=one_decimal),
    Column("P", "precision", two_decimals, optional=2, interval=two_decimals),
    Column("R", "recall", two_decimals, optional=2, interval=two_decimals),
    Column("F1", "f1", two_decimals, optional=1, interval=two_decimals),
    Column("FP", "false_positives", integer, optional=1),
    Column("rows", "answer_rows", short, optional=5),
    TASKS,
    GRAPHS,
)

COLUMNS = (
    *_QUALITY,
    Column("FP/ans", "false_positives_per_answered", two_decimals, optional=6, interval=two_decimals),
    Column("calls", "tool_calls", integer, optional=1),
    Column("calls/q", "calls_per_question", one_decimal, optional=5, interval=one_decimal),
    Column("no think", "tool_calls_without_think", integer, optional=9),
    Column("tokens/q", "tokens_per_question", short, optional=5, interval=short),
    Column("time/q", "seconds_per_question", duration, optional=4),
    Column("tool time/q", "tool_seconds_per_question", duration, optional=8),
    Column("tokens", "tokens", short, optional=3),
    Column("cost", "cost", dollars, optional=3),
    Column("failed", "infrastructure_failures", integer, optional=3),
    Column("strict accuracy %", "strict_accuracy", two_decimals, optional=7, interval=one_decimal),
    Column("grounded", "grounded", two_decimals, optional=7, interval=two_decimals),
    Column("last mile", "last_mile", integer, optional=8),
)

GROUP_COLUMNS = (
    *_QUALITY,
    Column("calls/q", "calls_per_question", one_decimal, optional=3, interval=one_decimal),
    Column("tokens/q", "tokens_per_question", short, optional=4, interval=short),
    Column("grounded", "grounded", two_decimals, optional=4),
    Column("failed", "infrastructure_failures", integer, optional=5),
)


def remark(result: ResultRecord) -> str | None:
    """A score of an earlier version; a question whose answers only its own Cypher confirms; what is not asked."""
    if (result["score"] or {}).get("error_class") in EARLIER_ERROR_CLASSES:
        return "Some errors have classes of an earlier version and are in no column of today's: graphwalk rescore RUN."
    task, world = result["task"], result.get("world", {})
    if task.get("oracles", 2) == 2:
        left_out = world.get("left_out")
        # Generated graphs have no names, and may be many.
        which = f"{world['name']} is" if "name" in world else "Some graphs are"
        return f"{which} not asked: {', '.join(left_out)} (run.json says why)." if left_out else None
    return f"{task['template']} has one oracle only: its targets come from its Cypher, and no evaluator confirms them."


REPORT = SuiteReport(
    suite="questions",
    measures=MEASURES,
    groupings=(
        Grouping("category", "category", lambda result: result["task"].get("category"), tuple(CATEGORIES)),
        Grouping("question", "question", lambda result: result["task"]["template"], QUESTIONS),
        Grouping("graph", "graph", lambda result: result.get("world", {}).get("name")),
        Grouping("nodes", "graph size", lambda result: result.get("world", {}).get("nodes")),
    ),
    columns=COLUMNS,
    group_columns=GROUP_COLUMNS,
    compared=("accuracy", "f1"),
    reference=paper_reference,
    baselines=baselines,
    remark=remark,
    unreported=("evidence_sufficient", "extra_fields", "missing_fields", "rows_given"),  # why one answer is wrong
    notes=(
        "N: questions with a score; Correct: right answers. P, R, F1: means over questions. FP: rows given that are not"
        " right, in total. rows: median size of the right answer.",
        "chance: one valid row drawn at random (a count: any up to the nodes or relationships of the graph), and what"
        " is to be expected of it. par: the scripted expert.",
        'Episodes that ended in an infrastructure failure have no score and are counted under "failed".',
    ),
    tables=more_tables,
)
