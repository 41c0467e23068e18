"""Every benchmark still runs, small and once; what it measures here means nothing."""

import pytest

from benchmarks import model_calls, tool_calls, where_walking_pays
from graphwalk.suites.questions.catalogue import choose_kinds

pytestmark = pytest.mark.extended


def test_model_calls_through_the_runner_and_a_bare_client() -> None:
    runner, bare, per_call = model_calls.measure(quick=True)
    assert 0 < (runner.ratio or 0) <= 1
    assert 0 < (bare.ratio or 0) <= 1
    assert per_call.ratio


def test_tool_calls_on_the_embedded_engine() -> None:
    assert next(tool_calls.measure(quick=True)).ratio


async def test_where_walking_pays_is_measured_and_laid_out() -> None:
    costs = {100: await where_walking_pays.measure(100, graphs=1)}
    assert set(costs[100].walks) == {kind.name for kind in choose_kinds()}
    assert all(tokens > costs[100].openings[0] for walks in costs[100].walks.values() for tokens in walks)
    assert costs[100].text("json") > costs[100].text("incidence") > 100
    assert "| walk, `node_count` |" in where_walking_pays.tables(costs)
