"""The columns of tables that several suites have, each with its title, format and legend.

A suite that means something else by one of them gives it another legend:

    replace(ACCURACY, legend="share of valid paths")

A narrow terminal leaves out the last columns of a table.
"""

from collections.abc import Iterable
from dataclasses import replace

from graphwalk.analysis.report.text_table import (
    Column,
    dollars,
    duration,
    integer,
    one_decimal,
    p_in_digits,
    short,
    two_decimals,
)

CORRECT = Column("Correct", "correct", integer, legend="number of correct answers")
SCORED = Column("N", "scored", integer, legend="episodes with a score")
ACCURACY = Column("Accuracy %", "accuracy", two_decimals, one_decimal, legend="share of correct answers")
PROVEN_ACCURACY = Column(
    "Right and\nproven %",
    "proven_accuracy",
    two_decimals,
    one_decimal,
    legend="share of answers that are correct and the same in every graph"
    " that gives the tool results of their episodes",
)
PRECISION = Column(
    "Precision", "precision", two_decimals, two_decimals, legend="mean share of answered rows that are correct"
)
RECALL = Column("Recall", "recall", two_decimals, two_decimals, legend="mean share of target rows that are answered")
F1 = Column("F1", "f1", two_decimals, two_decimals, legend="mean harmonic mean of precision and recall")
FALSE_POSITIVES = Column("False\npositives", "false_positives", integer, legend="answered rows that are incorrect")
TASKS = Column("Tasks", "tasks", integer, legend="tasks with a score")
GRAPHS = Column("Graphs", "graphs", integer, legend="graphs of these tasks")
TOOL_CALLS = Column("Calls", "tool_calls", integer, legend="number of tool calls")
CALLS_PER_QUESTION = Column(
    "Calls per\nquestion", "calls_per_question", one_decimal, one_decimal, legend="mean number of tool calls"
)
TOKENS_PER_QUESTION = Column(
    "Tokens per\nquestion", "tokens_per_question", short, short, legend="mean number of input and output tokens"
)
SECONDS_PER_QUESTION = Column(
    "Time per\nquestion", "seconds_per_question", duration, legend="mean elapsed time of model and tools"
)
TOKENS = Column("Tokens", "tokens", short, legend="input and output tokens of all episodes")
REASONING_TOKENS = Column(
    "Reasoning\ntokens", "reasoning_tokens", short, legend="reasoning tokens reported by the provider"
)
COST = Column("Cost", "cost", dollars, legend="cost of all episodes in US dollars")
INFRASTRUCTURE_FAILURES = Column(
    "Failed", "infrastructure_failures", integer, legend="infrastructure errors, without a score"
)
CONTEXT_OVERFLOWS = Column(
    "Context\noverflows",
    "context_overflows",
    integer,
    legend="episodes whose conversation exceeded the context window; scored",
)
TURN_LIMITS = Column("Turns\nused up", "turn_limits", integer, legend="episodes that used up their turns")
CALL_LIMITS = Column("Calls\nused up", "call_limits", integer, legend="episodes that used up their calls")
FURTHEST = Column(
    "Furthest", "furthest", two_decimals, legend="mean of the highest share of the answer that was in sight"
)
REPEATED_CALLS = Column("Repeated", "repeated_calls", integer, legend="calls identical to an earlier one")
TOOL_ERRORS = Column("Tool errors", "tool_errors", integer, legend="calls that returned an error")

PLAIN_COLUMNS = (
    CORRECT,
    SCORED,
    ACCURACY,
    PROVEN_ACCURACY,
    CONTEXT_OVERFLOWS,
    F1,
    CALLS_PER_QUESTION,
    TOKENS_PER_QUESTION,
    TASKS,
    INFRASTRUCTURE_FAILURES,
    COST,
)
"""The results of a suite that names no columns."""
LIMITS = (TURN_LIMITS, CALL_LIMITS)
WASTE = (REPEATED_CALLS, TOOL_ERRORS)
PAIRS = (
    Column("Holm p", "p_holm", p_in_digits),
    Column("Tasks", "tasks", integer),
    Column("Right", "right", integer, legend="right answers, first : second"),
    Column("1st better", "first_better", integer),
    Column("2nd better", "second_better", integer),
    Column("Graphs", "graphs", integer),
)
"""A comparison of two models or settings."""


def with_task_word(word: str, columns: Iterable[Column]) -> tuple[Column, ...]:
    """Return columns with titles for another kind of task: "Calls per maze" instead of "Calls per question"."""
    return tuple(replace(column, title=column.title.replace("question", word)) for column in columns)
