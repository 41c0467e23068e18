"""The contract of suites, checked for each registered one from its configuration to its report, with all of its scripted agents."""

import json
from typing import Any

import pytest

from graphwalk.analysis.report.formats import as_text, to_csv, to_json, to_markdown
from graphwalk.analysis.suite_analysis import analysis_of
from graphwalk.suites.suite import SUITES, suite_named
from graphwalk.testing import check_suite
from tests.analysis.report.results import build_report

SMALL: dict[str, dict[str, Any]] = {
    "questions": {"graphs": [{"preset": "paper-100", "count": 1}]},
    "mazes": {"mazes": [{"size": 6, "min_path": 4, "count": 1}]},
    "magma": {"traces": [{"algorithm": ["bfs", "dijkstra"], "count": 1}]},
    "graphwalks": {"problems": [{"nodes": 12, "count": 1}]},
}
RIGHT = {"mazes": ("expert", "depth_first"), "own_questions": ()}
"""Scripted agents that answer everything right, if not `expert` alone."""


@pytest.mark.parametrize("name", SUITES.names())
async def test_suite_contract(name: str) -> None:
    results = await check_suite(name, RIGHT.get(name, ("expert",)), **SMALL.get(name, {}))
    report = build_report([result.as_dict() for result in results], analysis_of(suite_named(name)).report())
    for write in (as_text, to_csv, to_markdown):
        assert write(report).strip()
    assert json.loads(to_json(report))["rows"]
