"""The report of MAGMA: what is measured, by algorithm, by size and by step."""

from collections.abc import Callable, Iterator

from graphwalk.report.common import EFFORT, GRAPHS, OUTCOME, TASKS, scored
from graphwalk.report.declared import Column, Grouping, Measure, ResultRecord, SuiteReport
from graphwalk.report.formats import dollars, duration, integer, one_decimal, short, two_decimals
from graphwalk.suites.magma.generator.traces import ALGORITHMS
from graphwalk.suites.magma.judgement import ERRORS
from graphwalk.suites.magma.prompts import STEPWISE, STRATEGIES
from graphwalk.suites.magma.report.paper import paper_reference
from graphwalk.suites.magma.report.relation import GIVEN_EARLIER, relations
from graphwalk.suites.magma.report.tables import HEAT, more_tables
from graphwalk.suites.magma.report.traces import CELLS, STEP, TRACE, case, part, trace_records


def _at(level: str, value: Callable[[ResultRecord], float | None]) -> Callable[[ResultRecord], float | None]:
    """Read `value` from records of one level only. A trace without a score is still one."""
    return lambda record: value(record) if (record["score"] or {}).get("level", TRACE) == level else None


def _free_running(record: ResultRecord) -> float:
    """1 for a trace that is one dialogue of all its steps."""
    return float(record["task"]["step"] is None and record["setting"] in STEPWISE)


def _of_case(record: ResultRecord) -> str:
    return case(record["task"]["algorithm"], record["task"]["n"])


def _of_step(record: ResultRecord) -> str | None:
    step = (record["score"] or {}).get("step")
    return None if step is None else f"{_of_case(record)} {step:>3}"


def _of_part(record: ResultRecord) -> str | None:
    step, task = (record["score"] or {}).get("step"), record["task"]
    return None if step is None else f"{task['algorithm']} {part(step, task['total_steps']):>3}"


def _errors(name: str) -> Iterator[Measure]:
    """In total, and per reply."""
    yield Measure(name, "count", _at(STEP, scored(name)))
    yield Measure(f"{name}_per_reply", "amount", _at(STEP, scored(name)))


MEASURES = (
    *(Measure(measure.name, measure.kind, _at(TRACE, measure.value)) for measure in OUTCOME),
    *(Measure(name, "percent", _at(TRACE, scored(name))) for name in ("intermediate_exact", "trajectory_exact")),
    *(
        Measure(name, "share", _at(TRACE, scored(name)))
        for name in ("precision", "recall", "f1", "intermediate_f1", "trajectory_f1")
    ),
    Measure("false_positives", "count", _at(TRACE, scored("false_positives"))),
    Measure("replies", "count", _at(STEP, lambda record: 1.0)),
    Measure("step_exact", "percent", _at(STEP, scored("exact"))),
    Measure("step_f1", "share", _at(STEP, scored("f1"))),
    *(measure for name in ERRORS for measure in _errors(name)),
    Measure("first_divergence", "amount", _at(TRACE, scored("first_divergence"))),
    Measure("divergence_at", "percent", _at(TRACE, scored("divergence_at"))),
    Measure("diverged", "percent", _at(TRACE, scored("diverged"))),
    Measure("recovered", "percent", _at(TRACE, scored("recovered"))),
    Measure("dialogues", "count", _at(TRACE, _free_running)),
    *(Measure(name, "percent", _at(TRACE, scored(name))) for name in GIVEN_EARLIER),
    *(Measure(name, "count", _at(TRACE, scored(name))) for name in CELLS),
    Measure("answer_reasoning_tokens", "count", _at(TRACE, scored("reasoning_tokens"))),
    *(Measure(measure.name, measure.kind, _at(TRACE, measure.value)) for measure in EFFORT),
)


_QUALITY = (
    Column("traces", "questions", integer, optional=2),
    TASKS,
    GRAPHS,
    Column("final %", "accuracy", one_decimal, interval=one_decimal),
    Column("earlier %", "intermediate_exact", one_decimal, optional=1, interval=one_decimal),
    Column("traj. %", "trajectory_exact", one_decimal, interval=one_decimal),
    Column("F1 final", "f1", two_decimals, optional=4, interval=two_decimals),
    Column("F1 earlier", "intermediate_f1", two_decimals, optional=5, interval=two_decimals),
    Column("F1 traj.", "trajectory_f1", two_decimals, optional=3, interval=two_decimals),
)

COLUMNS = (
    *_QUALITY,
    Column("replies", "replies", integer, optional=2),
    Column("first wrong", "first_divergence", one_decimal, optional=6, interval=one_decimal),
    Column("recovered %", "recovered", one_decimal, optional=6, interval=one_decimal),
    Column("time/trace", "seconds_per_question", duration, optional=7),
    Column("tool time/trace", "tool_seconds_per_question", duration, optional=8),
    Column("tokens", "tokens", short, optional=7),
    Column("reasoning", "answer_reasoning_tokens", short, optional=8),
    Column("thinking", "reasoning_tokens", short, optional=8),
    Column("cost", "cost", dollars, optional=7),
    Column("failed", "infrastructure_failures", integer, optional=2),
)

GROUP_COLUMNS = (*_QUALITY, Column("reply %", "step_exact", one_decimal, optional=2, interval=one_decimal), *HEAT)


_SUMS = (
    *("algorithm", "n", "trace_id", "total_steps"),
    *("correct", "precision", "recall", "f1", "false_positives", "grounded", "first_divergence"),
    *("missing_prefix", "false_negatives", "hallucinations", "invalid_items"),
)
"""Fields that repeat the task, or sum up the `steps` from which the tables are made."""

REPORT = SuiteReport(
    suite="magma",
    measures=MEASURES,
    groupings=(
        Grouping("algorithm", "algorithm", lambda r: r["task"]["algorithm"], ALGORITHMS),
        Grouping("n", "nodes", lambda r: r["task"]["n"]),
        Grouping("case", "algorithm and size", _of_case, shown=False),
        Grouping("step", "algorithm, size and step", _of_step, shown=False),
        Grouping("part", "algorithm and fifth of the trace", _of_part, shown=False),
    ),
    columns=COLUMNS,
    group_columns=GROUP_COLUMNS,
    compared=("accuracy", "f1"),
    reference=paper_reference,
    unreported=(*_SUMS, "lossy"),  # of the last reply alone
    notes=(
        "final, earlier, traj.: states that match exactly, in %, of the last step, the steps before it, and all;"
        " means over traces. The io strategies ask for the last state only, unless the experiment has io_steps: true;"
        " then for each in a prompt without the states before it. F1: of the sets of items.",
        f"{'; '.join(f'{name}: {words}' for name, words in STRATEGIES.items())}.",
        "Errors are means per reply: prefixes and items that are missing, hallucinated and invalid items.",
        "All traces and steps on one graph are one cluster.",
    ),
    records=trace_records,
    derived=relations,
    tables=more_tables,
)
