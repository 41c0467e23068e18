"""Every cell of a report from `results.jsonl` alone, without GraphWalk: python tests/reports/recompute.py RUN < report.json"""

import json
import sys
from collections import defaultdict
from pathlib import Path
from statistics import fmean, median

GROUPS = {"category": ("task", "category"), "question": ("task", "template"), "nodes": ("graph", "nodes")}


def over_tasks(results, value):
    by_task = defaultdict(list)
    for result in results:
        if value(result) is not None:
            by_task[result["task_id"]].append(value(result))
    return [fmean(values) for values in by_task.values()]


def cells(results):
    scored = [result for result in results if result["score"]]
    fields = {
        name: fmean(over_tasks(scored, lambda r, n=name: r["score"][n])) for name in ("precision", "recall", "f1")
    }
    fields |= {"scored": len(scored), "correct": sum(result["score"]["correct"] for result in scored)}
    fields |= {"accuracy": 100 * fmean(over_tasks(scored, lambda r: r["score"]["correct"]))}
    fields |= {"false_positives": sum(r["score"]["false_positives"] for r in scored)}
    fields |= {"tool_calls": sum(result["tool_calls"] for result in scored)}
    fields |= {"calls_per_question": fmean(over_tasks(scored, lambda r: r["tool_calls"]))}
    fields |= {"answer_rows": median(over_tasks(results, lambda r: r["task"]["gold_size"]))}
    fields |= {
        name: sum(result["usage"].get(name) or 0 for result in results) for name in ("input_tokens", "output_tokens")
    }
    return fields | {
        "tasks": len({r["task_id"] for r in scored}),
        "graphs": len({r["task"]["graph_digest"] for r in scored}),
    }


def differences(results, report):
    """(row, cell, in the report, from the log) of every cell that is not the same, and how many cells there are."""
    different, compared = [], 0
    tables = [(None, row) for row in report["rows"]] + [
        (name, row) for name in GROUPS for row in report["groups"][name]
    ]
    for table, row in tables:
        part, field = GROUPS.get(table, (None, None))
        mine = [r for r in results if (r["model"], r["setting"]) == (row["model"], row["setting"])]
        mine = [r for r in mine if table is None or r[part][field] == row[table]]
        for name, value in cells(mine).items():
            compared += 1
            if abs((row[name] or 0) - value) > 1e-6:
                different.append(((row["model"], row["setting"], row.get(table)), name, row[name], value))
    return different, compared


if __name__ == "__main__":
    with (Path(sys.argv[1]) / "results.jsonl").open(encoding="utf-8") as lines:
        log = [json.loads(line) for line in lines]
    wrong, number = differences(log, json.load(sys.stdin))
    print(*wrong, f"{number} cells, {len(wrong)} different", sep="\n")
    sys.exit(bool(wrong))
