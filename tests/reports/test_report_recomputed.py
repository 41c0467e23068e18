"""Every cell of the tables of a run, recomputed from its log without GraphWalk."""

import json
from collections import defaultdict
from statistics import fmean, median

import pytest

import graphwalk
from graphwalk.suites.questions.catalogue import choose_kinds
from tests.runs.runs import log_bytes

GROUPS = {"category": ("task", "category"), "question": ("task", "template"), "nodes": ("graph", "nodes")}


def over_tasks(results, value):
    by_task = defaultdict(list)
    for result in results:
        by_task[result["task_id"]].append(value(result))
    return [fmean(values) for values in by_task.values()]


def cells(results):
    scored = [result for result in results if result["score"]]
    names = ("precision", "recall", "f1")
    shares = {name: fmean(over_tasks(scored, lambda r, name=name: r["score"][name])) for name in names}
    usage = {name: sum(r["usage"].get(name) or 0 for r in results) for name in ("input_tokens", "output_tokens")}
    return {
        **shares,
        **usage,
        "questions": len(scored),
        "correct": sum(r["score"]["correct"] for r in scored),
        "accuracy": 100 * fmean(over_tasks(scored, lambda r: r["score"]["correct"])),
        "false_positives": sum(r["score"]["false_positives"] for r in scored),
        "tool_calls": sum(r["tool_calls"] for r in scored),
        "calls_per_question": fmean(over_tasks(scored, lambda r: r["tool_calls"])),
        "answer_rows": median(over_tasks(results, lambda r: r["task"]["gold_size"])),
        "tasks": len({r["task_id"] for r in scored}),
        "graphs": len({r["task"]["graph_digest"] for r in scored}),
    }


def test_every_cell_is_recomputed_from_the_log(tmp_path):
    models = ["scripted/flawed", "scripted/random"]
    out = tmp_path / "run"
    run = graphwalk.run("paper-table-2", models=models, graphs=2, repeats=2, settings=["tools"], out=out)
    log = [json.loads(line) for line in log_bytes(run.path).splitlines()]
    report = run.report()
    assert GROUPS.keys() == report["groups"].keys()
    rows = [(row, lambda r: True) for row in report["rows"]]
    for name, (part, field) in GROUPS.items():
        for row in report["groups"][name]:
            rows.append((row, lambda r, part=part, field=field, group=row[name]: r[part][field] == group))
    assert len(rows) == 2 * (1 + 3 + len(choose_kinds()) + 1)
    for row, is_in in rows:
        expected = cells([r for r in log if (r["model"], r["setting"]) == (row["model"], row["setting"]) and is_in(r)])
        assert {name: row[name] or 0 for name in expected} == pytest.approx(expected, abs=1e-6)
