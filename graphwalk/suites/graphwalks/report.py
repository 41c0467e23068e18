"""Report of GraphWalks by operation and size of the prompt."""

from functools import cache, partial

from graphwalk.reports.measures import declared_report
from graphwalk.reports.suite_report import Grouping, ResultRecord, SuiteReport
from graphwalk.suites.graphwalks.task import GraphwalksScore
from graphwalk.suites.reference import expert_result

_SHORT, _BANDS = 320_000, ("0–128k", "256k–1M")
"""Characters of the longest prompt of 0–128k tokens, and the published bands; no prompt has 128k to 256k tokens."""


def _problem(result: ResultRecord) -> str:
    return f"{result['task']['template']} {_BANDS[result['task']['prompt_chars'] > _SHORT]}"


def _remark(result: ResultRecord) -> str | None:
    task, graph = result["task"], result.get("graph", {})
    if (published := task.get("published_gold")) is not None:
        extra, missing = len({*published} - {*task["gold"]}), len({*task["gold"]} - {*published})
        return f"Row {task['row']}: the published target has {extra} other nodes, and lacks {missing} of ours."
    left_out = ", ".join(graph.get("left_out", ()))
    return f"Left out of {graph['name']}: {left_out} (run.json has the reasons)." if left_out else None


@cache
def graphwalks_report() -> SuiteReport:
    size = Grouping("nodes", "graph size", lambda result: result.get("graph", {}).get("nodes"))
    return declared_report(
        "graphwalks",
        GraphwalksScore,
        groupings=(Grouping("problem", "operation and size of the prompt", _problem), size),
        baselines=partial(expert_result, score=dict.fromkeys(("correct", "precision", "recall", "f1"), 1)),
        remark=_remark,
    )
