"""Every cell of the tables of a run, recomputed from its log by a script of its own."""

import json

import graphwalk
from graphwalk.suites.questions.catalogue import choose_kinds
from tests.reports.recompute import GROUPS, differences


def test_every_cell_is_recomputed_from_the_log(tmp_path):
    run = graphwalk.run(
        "paper-table-2",
        models=["scripted/flawed", "scripted/random"],
        graphs=2,
        repeats=2,
        settings=["tools"],
        out=tmp_path / "run",
    )
    log = [json.loads(line) for line in (run.path / "results.jsonl").read_bytes().splitlines()]
    report = run.report()
    different, compared = differences(log, report)
    assert different == []
    assert compared == 14 * 2 * (1 + 3 + len(choose_kinds()) + 1)
    assert GROUPS.keys() == report["groups"].keys()
    report["rows"][1]["f1"] += 0.001
    report["groups"]["question"][5]["tool_calls"] += 1
    assert len(differences(log, report)[0]) == 2
